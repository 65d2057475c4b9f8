"""Kinds of commands: what each may do to the store, and in which session (Spec 05 section 1).

Each takes `--json`, and where it opens the store `--session`. The callback gets what its kind opened, then
the command's own parameters, and returns an `Answer` (or None where it printed by itself).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from hcpx.runtime import Runtime, Settings, StoreMissing, read_settings
from hcpx.vocabulary.denial import denial_for
from hcpx.vocabulary.principal import Session

from .answer import Answer, Stop, show, stop

Callback = Callable[..., Answer | None]


class Command(click.Command):
    """A command that touches no store."""

    def __init__(self, *args: Any, **settings: Any) -> None:  # noqa: ANN401 -- click's own
        super().__init__(*args, **settings)
        self.params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print exactly one JSON document."))

    def invoke(self, ctx: click.Context) -> int:
        """Run it, print its answer, and return the exit status."""
        given = dict(ctx.params)
        as_json = bool(given.pop("as_json"))
        answer = self.answer(given, Question(as_json=as_json))
        if answer is None:
            return 0
        show(answer, as_json=as_json)
        return answer.status

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Call the command with what its kind gives it."""
        del question
        return self._call(**given)

    def _call(self, *args: object, **given: Any) -> Answer | None:  # noqa: ANN401 -- click's own
        callback: Callback | None = self.callback
        return callback(*args, **given) if callback is not None else None


class InSession(Command):
    """A command that looks at the session that is given: `--session`, else `HCP_SESSION`, else the owner's."""

    def __init__(self, *args: Any, **settings: Any) -> None:  # noqa: ANN401 -- click's own
        super().__init__(*args, **settings)
        about = "Ask in this session instead of HCP_SESSION or the owner's own."
        self.params.append(click.Option(["--session", "session"], metavar="TOKEN", help=about))


class Change(InSession):
    """A command of the store's owner that changes the store; a store that is not there yet is made."""

    def __init__(self, *args: Any, **settings: Any) -> None:  # noqa: ANN401 -- click's own
        super().__init__(*args, **settings)
        self.params.append(click.Option(["-y", "--yes", "yes"], is_flag=True, help="Ask no question."))

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Refuse any session that was given, also a dead one, then open the store."""
        return as_change(self._call, given, question)


class Draft(InSession):
    """A command of the store's owner that needs no store."""

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Refuse any session that was given."""
        return self._call(owner_alone(given, question).settings, **given)


class Read(InSession):
    """A command that reads what the session may see. `empty` is its answer where there is no store yet."""

    def __init__(self, *args: Any, empty: Mapping[str, object] | None = None, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **settings)
        self.empty = empty

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Open the store without making one, and give the view of the session."""
        token = session_of(given, question.settings)
        try:
            with opened() as runtime:
                view = runtime.view(token)
                if view is None:
                    raise stop("unauthenticated")
                with for_session(view.session):
                    return self._call(view, **given)
        except StoreMissing as missing:
            if token is not None:
                raise stop("unauthenticated") from None
            return nothing_yet(self.empty, missing)


class OwnerRead(Read):
    """A command that reads what concerns the host: the owner's alone."""

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Refuse any session that was given, and open the store without making one."""
        return as_owner(self._call, given, question, self.empty)


class Act(InSession):
    """A command in the session's own right: a person's decision. No store is made for it."""

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Open the store and give it with the live session."""
        token = session_of(given, question.settings)
        with opened() as runtime:
            session = runtime.session(token)
            if session is None:
                raise stop("unauthenticated")
            with for_session(session):
                return self._call(runtime, session, **given)


class Question:
    """Whether and how a person is asked: at a terminal (stdin and stdout) only, else never."""

    def __init__(self, *, as_json: bool, yes: bool = False) -> None:
        self.settings = read_settings()
        self.as_json = as_json
        self._yes = yes

    def with_yes(self, *, yes: bool) -> Question:
        """Return the question with the answer that `-y` gives in advance."""
        return Question(as_json=self.as_json, yes=yes)

    @property
    def is_possible(self) -> bool:
        """Whether a person is there who can be asked."""
        return self.settings.interactive and not self.as_json and _at_terminal()

    def settle(self, what: str) -> None:
        """Ask where a person is there and `-y` was not given; a no ends the command, and nothing has changed."""
        if self._yes or not self.is_possible:
            return
        sys.stderr.write(f"{what} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise stop("confirm_required", hint="nothing has changed; say yes, or give -y")


class Desk:
    """What a command of the owner works with."""

    def __init__(self, runtime: Runtime, question: Question) -> None:
        self.runtime = runtime
        self.owner = runtime.owner
        self.question = question


@contextmanager
def opened() -> Generator[Runtime]:
    """Open the store for the length of a block; none is made."""
    runtime = Runtime.open()
    try:
        yield runtime
    finally:
        runtime.close()


@contextmanager
def for_session(session: Session) -> Generator[None]:
    """Word the hints of denials for that session: where it has an actor, they ask the owner."""
    try:
        yield
    except Stop as end:
        raise Stop(denial_for(session.actor, end.denial), end.details, end.text) from None


def as_change(call: Callback, given: dict[str, Any], question: Question) -> Answer | None:
    """Run a change: a store that is not there yet is made."""
    question = owner_alone(given, question)
    runtime = Runtime.open(create_missing=True)
    try:
        return call(Desk(runtime, question), **given)
    finally:
        runtime.close()


def as_owner(
    call: Callback, given: dict[str, Any], question: Question, empty: Mapping[str, object] | None
) -> Answer | None:
    """Run a reading command that is the owner's alone."""
    question = owner_alone(given, question)
    try:
        with opened() as runtime:
            return call(Desk(runtime, question), **given)
    except StoreMissing as missing:
        return nothing_yet(empty, missing)


def nothing_yet(empty: Mapping[str, object] | None, missing: StoreMissing) -> Answer:
    """Answer where there is no store: there is nothing to list, and nothing to show."""
    if empty is None:
        raise stop("not_found", what=str(missing))
    return Answer(empty, text="nothing", notes=(str(missing),))


def session_of(given: dict[str, Any], settings: Settings) -> str | None:
    """Take the session out of the parameters: the option, else the environment's; an empty one is one too."""
    token: str | None = given.pop("session")
    return token if token is not None else settings.session


def owner_alone(given: dict[str, Any], question: Question) -> Question:
    """End the command where a session was given, live or not; else return the question with its `-y`."""
    if session_of(given, question.settings) is not None:
        raise stop("owner_required")
    return question.with_yes(yes=bool(given.pop("yes", False)))


def _at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()

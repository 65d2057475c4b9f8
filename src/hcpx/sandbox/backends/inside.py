"""What is done at the turns of a bubblewrap run: bound the tree, write it down, open the gate, and end it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from hcpx.sandbox import spawn
from hcpx.sandbox.cgroup import Group
from hcpx.sandbox.journal import Journal
from hcpx.sandbox.tree import Tree
from hcpx.vocabulary.invocation import Cancel, Contact

from .gate import Gate
from .inner import Namespace, children_of, first_process

if TYPE_CHECKING:
    from .outlet import Outlet

_SETUP_S: Final = 10.0
_END_S: Final = 5.0


class Record:
    """One run in the journal."""

    def __init__(self, journal: Journal, run: int) -> None:
        self._journal = journal
        self._run = run

    def started(self, *pids: int) -> None:
        """Write processes down. Raises OSError."""
        self._journal.started(self._run, *pids)


class Inside(spawn.Care):
    """The care for one run; as a context it gives back what it opened."""

    def __init__(self, gate: Gate, group: Group, record: Record, cancel: Cancel, outlet: Outlet | None) -> None:
        self.gate = gate
        self.group = group
        self._record = record
        self._cancel = cancel
        self._outlet = outlet
        self._is_open = False
        self._status = -1
        self._space: Namespace | None = None
        self._on_start: Callable[[], None] = lambda: None

    @property
    def has_begun(self) -> bool:
        """Whether the program was let go: from then on nobody may say that nothing was started."""
        return self._is_open

    def status_writer(self) -> int:
        """Return the descriptor on which bubblewrap tells of itself; it is the caller's to close."""
        self._status, theirs = os.pipe2(os.O_CLOEXEC)
        return theirs

    def on_start(self, close: Callable[[], None]) -> None:
        """Have this called once the helper holds its descriptors, so that theirs are the only ones."""
        self._on_start = close

    def variables(self) -> list[str]:
        """Return the arguments that tell the program of its network."""
        if self._outlet is None:
            return []
        from .netns import variables

        return [part for name, value in variables().items() for part in ("--setenv", name, value)]

    def contacts(self) -> tuple[Contact, ...]:
        """Return what was decided about the network."""
        if self._outlet is None:
            return ()
        return tuple(Contact(one.host, one.port, one.why, count) for one, count in self._outlet.decisions().items())

    def started(self, pid: int) -> str | None:
        """Let the program run once its whole tree is bounded and on record (Spec 04 section 3)."""
        self._on_start()
        self.gate.handed_over()
        try:
            first = first_process(self._status, pid, _SETUP_S)
        except TimeoutError:
            return "bubblewrap did not come up"
        if first is None:
            return None  # it ended by itself: its stderr says why
        try:
            self._space = Namespace(first)
            self.group.take(first)
            for child in children_of(first):  # started before it was moved
                with contextlib.suppress(ProcessLookupError):
                    self.group.take(child)
            self._record.started(pid, first)
            if self._outlet is not None:
                self._outlet.open(first)
        except ProcessLookupError:
            return None  # the same
        except OSError as error:
            return f"the sandbox cannot be made ready: {error.strerror}"
        return self._told_to_go()

    def _told_to_go(self) -> str | None:
        try:
            if self.gate.wait(_SETUP_S) and not self._cancel.cancelled:
                self._is_open = True
                self.gate.open()
        except TimeoutError:
            return "the sandbox did not become ready"
        return None

    def ask(self, tree: Tree) -> None:  # noqa: ARG002 - bubblewrap knows its first process
        """Ask the program itself: bubblewrap would end at once, its first process does not listen."""
        if self._space is None:
            return
        if self._is_open:
            self._space.ask()
        else:  # nobody is there yet who could be asked
            self._space.kill()

    def kill(self) -> None:
        """End every process inside and wait until the last of them is gone."""
        if self._space is not None:
            self._space.kill()
            self._space.gone(_END_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._space is not None:
            self._space.close()
        if self._status >= 0:
            os.close(self._status)

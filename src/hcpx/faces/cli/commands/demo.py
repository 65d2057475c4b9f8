"""`hcpx demo`: the guided tour, in a store of its own, through the real pipeline."""

from __future__ import annotations

import json
import sys
from typing import Any, Final, cast

import click
import msgspec

from hcpx.faces.cli.answer import Answer, Stop
from hcpx.faces.cli.interrupts import cancelling
from hcpx.faces.cli.kinds import Command, Question
from hcpx.faces.cli.people import plain
from hcpx.runtime import Runtime
from hcpx.runtime.pack_desk import PackRefused
from hcpx.runtime.temporary import ambient, temporary_runtime
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.invocation import Cancel
from hcpx.vocabulary.result import Result

_AGENT: Final = "agent:demo"
_AMBIENT: Final = ("LEDGER_TOKEN", "a-token-that-lies-around")
_FAILED: Final = 1
_WIDTH: Final = 110


class Stage(msgspec.Struct, frozen=True):
    """One call of the tour: who makes it, and the code that it must end with (None: it succeeds)."""

    title: str
    who: str
    command: tuple[str, str]
    args: dict[str, object]
    code: str | None
    ambient: bool = False
    connects: bool = False


_CONFIRMED: Final[dict[str, object]] = {"confirm": True}
_PAY: Final[dict[str, object]] = {"amount": "2.80", "payee": "demo-transit"}

STAGES: Final = (
    Stage("What may an agent with a read-only session do?", "agent", ("hcp-cli", "hcp.availability"), {}, None),
    Stage("It reads.", "agent", ("transit", "plan"), {"from": "A", "to": "B"}, None),
    Stage(
        "It tries to write, confirm and all: its session has no grant for that.",
        "agent",
        ("transit", "book"),
        {"option": "opt-1", **_CONFIRMED},
        "denied",
    ),
    Stage(
        "You write, and stop at the gate: the Policy row asks for confirm.",
        "you",
        ("transit", "book"),
        {"option": "opt-1", "name": "Ada"},
        "confirm_required",
    ),
    Stage(
        "You confirm, and it is done.",
        "you",
        ("transit", "book"),
        {"option": "opt-1", "name": "Ada", **_CONFIRMED},
        None,
    ),
    Stage(
        f"You pay, but nothing is connected. {_AMBIENT[0]} is set in the environment, and is not used.",
        "you",
        ("ledger", "transfer"),
        _PAY | _CONFIRMED,
        "binding_missing",
        ambient=True,
    ),
    Stage(
        "After hcpx connect ledger, the credential that you stored pays.",
        "you",
        ("ledger", "transfer"),
        _PAY | _CONFIRMED,
        None,
        ambient=True,
        connects=True,
    ),
    Stage(
        "A program of this host runs only where you allowed it.",
        "you",
        ("git", "status"),
        {},
        "not_allowlisted",
    ),
)


class _Demo(Command):
    def answer(self, given: dict[str, Any], question: Question) -> Answer:
        del given
        with cancelling() as cancel, temporary_runtime() as runtime:
            return Tour(runtime, cancel, talks=not question.as_json).walk()


@click.command("demo", cls=_Demo)
def demo() -> None:
    """Walk through what hcpx does, in a temporary store, without network; fails if any outcome differs."""


class Tour:
    """The walk through the stages; with `talks` it says what happens as it goes."""

    def __init__(self, runtime: Runtime, cancel: Cancel, *, talks: bool) -> None:
        self._runtime = runtime
        self._cancel = cancel
        self._talks = talks
        self._token = ""

    def walk(self) -> Answer:
        """Set the scene, make every call, then verify the audit of all of it."""
        note = self._set_scene()
        self._say(f"A tour of hcpx, in a store of its own. {note}\n")
        ended = [self._call(number, stage) for number, stage in enumerate(STAGES, 1)]
        audit = self._audited(len(STAGES) + 1, [result for _, result in ended])
        wrong = [stage.title for stage, result in ended if not _as_expected(stage, result)]
        wrong += [] if audit["ok"] else ["the audit"]
        self._say("Every call ended as it should." if not wrong else f"Ended otherwise: {'; '.join(wrong)}")
        self._say("Next, in a store of your own: hcpx pack add transit && hcpx activate transit")
        value = {"calls": [_told(stage, result) for stage, result in ended], "audit": audit, "wrong": wrong}
        return Answer(value, status=_FAILED if wrong else 0)

    def _set_scene(self) -> str:
        owner = self._runtime.owner
        for pack_id in ("transit", "ledger", "git"):
            added = owner.packs.add(pack_id)
            if isinstance(added, PackRefused):
                raise Stop(added.denial)
            owner.packs.activate(pack_id)
        owner.projects.add(owner.tenant, "demo", str(self._runtime.settings.cwd))
        self._token, _ = owner.new_session(actor=_AGENT, read_only=True, ttl_s=600.0)
        if all(check.ok for check in self._runtime.books.doctor() if check.name == "sandbox"):
            return "Programs run isolated."
        owner.configure("sandbox", "native-local")
        return "This machine has no isolation to offer, so programs run as they are (native-local)."

    def _call(self, number: int, stage: Stage) -> tuple[Stage, Result]:
        pack_id, verb_key = stage.command
        self._say(f"{number}. {stage.title}")
        if stage.connects:
            self._runtime.owner.bindings.connect(pack_id, "the-secret-of-the-tour")
        words = " ".join(f"{name}={_word(value)}" for name, value in stage.args.items())
        who = "your agent" if stage.who == "agent" else "you"
        self._say(f"   {who}: hcpx exec {pack_id} {verb_key}{' -- ' + words if words else ''}")
        envelope: dict[str, object] = {"pack_id": pack_id, "verb_key": verb_key, "args": stage.args}
        token = self._token if stage.who == "agent" else None
        if stage.ambient:
            with ambient(*_AMBIENT):
                result = self._executed(envelope, token)
        else:
            result = self._executed(envelope, token)
        self._tell(stage, result)
        return stage, result

    def _executed(self, envelope: dict[str, object], token: str | None) -> Result:
        if self._cancel.cancelled:
            raise KeyboardInterrupt
        return self._runtime.execute(envelope, token=token, face="human", cancel=self._cancel)

    def _tell(self, stage: Stage, result: Result) -> None:
        if result.ok:
            self._say(f"   ok      {_short(result.result, stage)}")
        else:
            self._say(f"   denied  {result.error}  ({result.code}, step {result.step})")
            if isinstance(result.hint, str):
                self._say(f"   next    {result.hint}")
        self._say("" if _as_expected(stage, result) else f"   NOT AS EXPECTED: {stage.code or 'ok'} was\n")

    def _audited(self, number: int, results: list[Result]) -> dict[str, object]:
        self._say(f"{number}. Every call is in the audit, the denied ones too, and the chain of records holds.")
        view = self._runtime.view(None)
        if view is None:
            return {"ok": False}
        known = {view.call(result.audit_id)["audit_id"] for result in results}
        verdicts = view.verdicts()
        chains = () if isinstance(verdicts, Denial) else verdicts
        sound = bool(chains) and all(one.broken is None for one in chains)
        records = sum(one.records for one in chains)
        ok = sound and known == {result.audit_id for result in results}
        self._say(f"   hcpx audit verify: {records} records, {'every chain holds' if ok else 'BROKEN'}\n")
        return {"ok": ok, "records": records}

    def _say(self, line: str) -> None:
        if self._talks:
            sys.stdout.write(plain(line) + "\n")
            sys.stdout.flush()


def _as_expected(stage: Stage, result: Result) -> bool:
    return result.ok if stage.code is None else not result.ok and result.code == stage.code


def _told(stage: Stage, result: Result) -> dict[str, object]:
    answer = result.to_dict()
    return {"title": stage.title, "who": stage.who, "expected": stage.code or "ok", "result": answer}


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _short(value: object, stage: Stage) -> str:
    if stage.command == ("hcp-cli", "hcp.availability"):
        listed = cast("dict[str, list[dict[str, object]]]", value)["commands"]
        found = [one for one in listed if one["pack_id"] != "hcp-cli"]
        can = [f"{one['pack_id']}.{one['verb_key']}" for one in found if one["available"]]
        return f"{len(can)} of {len(found)} commands: {' '.join(can)}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."

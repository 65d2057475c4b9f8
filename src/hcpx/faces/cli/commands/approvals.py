"""`hcpx approvals`: requests for a person's word on exactly one call (Spec 01 section 3)."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import click
import msgspec

from hcpx.faces.cli.answer import Answer, Stop, fields, print_json
from hcpx.faces.cli.kinds import Act, Question, Read
from hcpx.faces.cli.people import plain
from hcpx.faces.cli.times import written
from hcpx.runtime import Runtime
from hcpx.runtime.view import View
from hcpx.vocabulary.approval import Approval
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.principal import Session

approvals = click.Group("approvals", help="Requests for a person's word on exactly one call.")

_POLL_S = 0.5


@approvals.command("list", cls=Read, empty={"approvals": []})
@click.option("--all", "every", is_flag=True, help="Decided, used and expired ones too.")
def list_(view: View, *, every: bool) -> Answer:
    """List the requests that wait."""
    found = view.approvals(waiting=not every)
    return Answer({"approvals": [_approval(one) for one in found]}, rows=[_line(one) for one in found])


@approvals.command("show", cls=Read)
@click.argument("approval_id", metavar="ID")
def show(view: View, approval_id: str) -> Answer:
    """Show exactly what would run."""
    found = _approval(view.approval(approval_id))
    return Answer(found, rows=fields(found))


class _Watch(Read):
    """Keeps its eye on the requests; with `--json` it answers once, with the next that come."""

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Hand the form of the output on."""
        return super().answer(given | {"as_json": question.as_json}, question)


@approvals.command("watch", cls=_Watch)
def watch(view: View, *, as_json: bool) -> Answer | None:
    """Print each request as it comes, until Ctrl-C; with --json wait for one and print what waits."""
    seen: set[str] = set()
    while True:
        found = view.approvals(waiting=True)
        fresh = [one for one in found if one.id not in seen]
        if fresh and as_json:
            print_json({"ok": True, "approvals": [_approval(one) for one in found]})
            return None
        for one in fresh:
            sys.stdout.write(plain("  ".join(f"{key}={value}" for key, value in _line(one).items())) + "\n")
        sys.stdout.flush()
        seen.update(one.id for one in fresh)
        time.sleep(_POLL_S)


@approvals.command("approve", cls=Act)
@click.argument("approval_id", metavar="ID")
def approve(runtime: Runtime, session: Session, approval_id: str) -> Answer:
    """Approve one call, exactly as shown."""
    return _decided(runtime.books.decide(session, approval_id, "approve"))


@approvals.command("deny", cls=Act)
@click.argument("approval_id", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="What the caller is told.")
def deny(runtime: Runtime, session: Session, approval_id: str, reason: str) -> Answer:
    """Deny one call."""
    return _decided(runtime.books.decide(session, approval_id, "deny", reason))


def _decided(found: Approval | Denial) -> Answer:
    if isinstance(found, Denial):
        raise Stop(found)
    count, needed = sum(said.verdict == "approve" for said in found.decisions), found.ask.needed
    if found.state == "denied":
        text = f"approval {found.id} is denied"
    elif count < needed:
        text = f"approval {found.id} has {count} of {needed}"
    else:
        text = f"approval {found.id} has {count} of {needed}: the call may be made again"
    return Answer(_approval(found), text=text)


def _approval(one: Approval) -> dict[str, object]:
    return {
        "id": one.id,
        "state": one.state,
        "principal": one.ask.principal,
        **({"actor": one.ask.actor} if one.ask.actor is not None else {}),
        "pack_id": one.ask.pack_id,
        "verb_key": one.ask.verb_key,
        "needed": one.ask.needed,
        "digest": one.ask.digest,
        "shown": one.ask.shown,
        "created_at": written(one.created_at),
        "expires_at": written(one.expires_at),
        "decisions": [msgspec.to_builtins(said) | {"at": written(said.at)} for said in one.decisions],
    }


def _line(one: Approval) -> dict[str, object]:
    found = _approval(one)
    names = ("id", "state", "principal", "actor", "pack_id", "verb_key", "needed", "expires_at")
    args = json.dumps(one.ask.args, ensure_ascii=False)
    return {name: found[name] for name in names if name in found} | {"args": args}

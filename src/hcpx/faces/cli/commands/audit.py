"""`hcpx audit`: the record of every call, and whether it still is what was written (Spec 06 section 2)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import cast

import click
import msgspec

from hcpx.faces.cli.answer import Answer, Stop, fields
from hcpx.faces.cli.kinds import Question, Read
from hcpx.faces.cli.times import bound
from hcpx.runtime.view import Entry, Filter, View
from hcpx.vocabulary.denial import Denial

audit = click.Group("audit", help="The record of every call.")

_COLUMNS = ("at", "principal", "actor", "pack_id", "verb_key", "decision", "outcome", "code", "audit_id")
_BROKEN = 1
_SINCE = click.option("--since", metavar="TIME", help="Not before: 2030-01-01T00:00:00Z, or 8h ago.")
_UNTIL = click.option("--until", metavar="TIME", help="Not after: the same forms.")


@audit.command("list", cls=Read, empty={"calls": []})
@_SINCE
@_UNTIL
@click.option("--principal", metavar="NAME", help="Only calls for this principal.")
@click.option("--pack", "pack_id", metavar="ID", help="Only calls to this pack.")
@click.option("--verb", "verb_key", metavar="KEY", help="Only calls to this command.")
@click.option("--decision", type=click.Choice(("allowed", "denied", "mock", "replayed")), help="Only these.")
@click.option("--outcome", type=click.Choice(("ok", "failed", "timeout", "cancelled", "unknown")), help="Only these.")
@click.option("--code", metavar="CODE", help="Only calls that ended with this code.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="At most so many.")
def list_(view: View, since: str | None, until: str | None, limit: int, **wanted: str | None) -> Answer:
    """List calls, newest first."""
    found = view.calls(Filter(since=bound(since), until=bound(until), limit=limit, **wanted))
    return Answer({"calls": found}, rows=[_line(entry) for entry in found])


@audit.command("show", cls=Read)
@click.argument("audit_id", metavar="ID")
def show(view: View, audit_id: str) -> Answer:
    """Show one call with all its records."""
    found = view.call(audit_id)
    return Answer(found, rows=_fields(found))


@audit.command("verify", cls=Read, empty={"chains": []})
def verify(view: View) -> Answer:
    """Check the chain of records in one pass, and name the first break."""
    found = view.verdicts()
    if isinstance(found, Denial):
        raise Stop(found)
    broken = [one for one in found if one.broken is not None]
    chains = [
        {"tenant": one.tenant, "records": one.records, "ok": one.broken is None}
        | ({} if one.broken is None else {"broken": msgspec.to_builtins(one.broken)})
        for one in found
    ]
    lines = [
        {
            "tenant": one.tenant,
            "sound records": one.records,
            "break": "" if one.broken is None else one.broken.message,
        }
        for one in found
    ]
    return Answer({"chains": chains}, rows=lines, status=_BROKEN if broken else 0)


class _Export(Read):
    """Writes while it reads; with `--json` the lines are the items of one list."""

    def answer(self, given: dict[str, object], question: Question) -> Answer | None:
        """Hand the form of the output on."""
        return super().answer(given | {"as_json": question.as_json}, question)


@audit.command("export", cls=_Export, empty={"records": []})
@click.option("--format", "kind", type=click.Choice(("jsonl",)), default="jsonl", show_default=True, help="The form.")
@click.option("--tenant", metavar="ID", help="Whose chain; only the owner may name another one.")
@_SINCE
@_UNTIL
def export(
    view: View, kind: str, tenant: str | None, since: str | None, until: str | None, *, as_json: bool
) -> Answer | None:
    """Write the records as they are stored, oldest first: each one's SHA-256 is the `prev` of the next."""
    del kind
    lines = view.exported(tenant, bound(since), bound(until))
    if isinstance(lines, Denial):
        raise Stop(lines)
    sys.stdout.flush()
    for part in _as_list(lines) if as_json else lines:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
    return None


def _fields(call: Entry) -> list[Mapping[str, object]]:
    """Return a call as people read it: of its records, which are in the JSON, the kind and the hash."""
    records = cast("list[Entry]", call["records"])
    chained = {f"record {one['seq']}": f"{one['kind']} {one['hash']}" for one in records}
    return fields({name: value for name, value in call.items() if name != "records"} | chained)


def _as_list(lines: Iterator[bytes]) -> Iterator[bytes]:
    yield b'{"ok":true,"records":['
    for place, line in enumerate(lines):
        yield (b"," if place else b"") + line.rstrip(b"\n")
    yield b"]}\n"


def _line(entry: Entry) -> dict[str, object]:
    shown = {name: entry.get(name) for name in _COLUMNS}
    return shown | ({"outcome": "runs"} if entry.get("running") else {})

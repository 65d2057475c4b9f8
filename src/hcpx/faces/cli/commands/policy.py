"""`hcpx policy`: rows as they hold here, and what the operator demands on top (Spec 02 section 1)."""

from __future__ import annotations

import json

import click
import msgspec

from hcpx.faces.cli.answer import Answer, Stop, stop
from hcpx.faces.cli.files import text_of
from hcpx.faces.cli.kinds import Change, Desk, Read
from hcpx.runtime.view import View
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.policy import Overlay, PolicyRow

policy = click.Group("policy", help="Policy rows as they hold here.")

_LIMITS = {
    "timeout_s": "Seconds a run may take.",
    "output_bytes": "Bytes of each stream that are kept.",
    "memory_mb": "Memory in MiB.",
    "processes": "Processes at once.",
    "concurrency": "Runs at once.",
}


@policy.command("show", cls=Read)
@click.argument("name", metavar="PACK[.VERB]")
def show(view: View, name: str) -> Answer:
    """Show the rows of a pack, or one, with what was laid over them."""
    pack_id, _, verb_key = name.partition(".")
    pack = view.pack(pack_id)
    if isinstance(pack, Denial):
        raise Stop(pack)
    if verb_key and verb_key not in pack.policy:
        raise stop("no_policy", verb_key=verb_key, pack_id=pack_id)
    found = {key: _row(view.row(pack, key)) for key in pack.policy if verb_key in ("", key)}
    lines = [{"verb_key": key} | _line(row) for key, row in found.items()]
    return Answer({"pack_id": pack_id, "rows": found}, rows=lines)


def _with_limits(command: click.Command) -> click.Command:
    for name, about in reversed(_LIMITS.items()):
        kind = float if name == "timeout_s" else int
        command.params.append(click.Option([f"--{name.replace('_', '-')}"], type=kind, metavar="N", help=about))
    return command


@policy.command("tighten", cls=Change)
@click.argument("name", metavar="PACK.VERB")
@click.option("--confirm", is_flag=True, help="Ask for confirm.")
@click.option("--approvals", type=int, default=0, metavar="N", help="Ask for N people's word.")
@click.option("--deny", is_flag=True, help="Forbid it.")
@click.option("--args-schema", metavar="FILE", help="A JSON Schema that the args must meet too.")
def tighten(
    desk: Desk,
    name: str,
    approvals: int,
    args_schema: str | None,
    *,
    confirm: bool,
    deny: bool,
    **limits: float | None,
) -> Answer:
    """Demand more of a command than its pack does; it never asks for less."""
    pack_id, dot, verb_key = name.partition(".")
    if not dot:
        raise stop("usage", what=f"{name!r} names no command; write PACK.VERB", hint=f"hcpx policy show {pack_id}")
    overlay = Overlay(
        confirm=confirm,
        approvals=approvals,
        deny=deny,
        limits={key: value for key, value in limits.items() if value is not None},
        args_schema=None if args_schema is None else text_of(args_schema),
    )
    row = _row(desk.owner.tighten(pack_id, verb_key, overlay))
    text = "  ".join(f"{key}={json.dumps(value)}" for key, value in _line(row).items())
    return Answer({"pack_id": pack_id, "verb_key": verb_key, "row": row}, text=f"{name} now: {text}")


_with_limits(tighten)


def _row(row: PolicyRow) -> dict[str, object]:
    limits = {name: getattr(row.limits, name) for name in _LIMITS}
    return {
        "operation": row.operation,
        "confirm": row.confirm,
        "approvals": row.approvals,
        "binding": row.binding,
        "land": row.land,
        "idempotent": row.idempotent,
        "forbidden": row.forbidden,
        "args_schema": [msgspec.json.decode(text) for text in row.args_schema],
        "limits": limits,
    }


def _line(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in ("args_schema", "limits", "idempotent")}

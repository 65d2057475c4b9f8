"""`hcpx brain`: results kept under projects (Spec 06 section 5)."""

from __future__ import annotations

import click
import msgspec

from hcpx.faces.cli.answer import Answer
from hcpx.faces.cli.kinds import Read
from hcpx.faces.cli.times import written
from hcpx.runtime.view import Kept, View

brain = click.Group("brain", help="Results kept under projects.")


@brain.command("list", cls=Read, empty={"results": []})
@click.argument("project", metavar="[PROJECT]", required=False)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="At most so many.")
def list_(view: View, project: str | None, limit: int) -> Answer:
    """List what was kept, newest first."""
    found = [_kept(one) for one in view.kept(project, limit)]
    columns = ("at", "project", "pack_id", "verb_key", "principal", "size", "audit_id")
    return Answer({"results": found}, rows=[{name: one[name] for name in columns} for one in found])


@brain.command("show", cls=Read)
@click.argument("audit_id", metavar="ID")
def show(view: View, audit_id: str) -> Answer:
    """Show one result by the id of its call."""
    kept = view.kept_result(audit_id)
    content = msgspec.json.decode(kept.result) if kept.result is not None else None
    found = _kept(kept) | {"result": content}
    return Answer(found, rows=[{"field": name, "value": value} for name, value in found.items()])


def _kept(one: Kept) -> dict[str, object]:
    found: dict[str, object] = msgspec.to_builtins(msgspec.structs.replace(one, result=None))
    found["at"] = written(one.at)
    return {name: value for name, value in found.items() if value is not None}

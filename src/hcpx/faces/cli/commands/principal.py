"""`hcpx principal`: whom the store knows, and who is switched off."""

from __future__ import annotations

import click

from hcpx.faces.cli.answer import Answer
from hcpx.faces.cli.kinds import Change, Desk, Read
from hcpx.faces.cli.times import written
from hcpx.runtime.view import View

principal = click.Group("principal", help="Principals and actors.")


@principal.command("list", cls=Read, empty={"principals": []})
def list_(view: View) -> Answer:
    """List principals and actors."""
    rows = [{"id": one.id, "enabled": one.enabled, "created_at": written(one.created_at)} for one in view.principals()]
    return Answer({"principals": rows}, rows=rows)


@principal.command("disable", cls=Change)
@click.argument("name", metavar="NAME")
def disable(desk: Desk, name: str) -> Answer:
    """End every right of a principal or actor, at once and in every session."""
    desk.question.settle(f"Disable {name} in every session?")
    desk.owner.principals.disable(desk.owner.tenant, name)
    return Answer({"id": name, "enabled": False}, text=f"{name} is disabled")


@principal.command("enable", cls=Change)
@click.argument("name", metavar="NAME")
def enable(desk: Desk, name: str) -> Answer:
    """Let a principal or actor call again."""
    desk.owner.principals.enable(desk.owner.tenant, name)
    return Answer({"id": name, "enabled": True}, text=f"{name} is enabled")

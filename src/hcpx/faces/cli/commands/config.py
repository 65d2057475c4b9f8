"""`hcpx config`: settings of this store."""

from __future__ import annotations

import click

from hcpx.faces.cli.answer import Answer, stop
from hcpx.faces.cli.kinds import Change, Desk, OwnerRead

group = click.Group("config", help="Settings of this store.")
config = group


@group.command("set", cls=Change)
@click.argument("name")
@click.argument("value")
def set_(desk: Desk, name: str, value: str) -> Answer:
    """Write a setting."""
    desk.owner.configure(name, value)
    return Answer({"name": name, "value": value}, text=f"{name} is {value}")


@group.command("get", cls=OwnerRead)
@click.argument("name")
def get(desk: Desk, name: str) -> Answer:
    """Show a setting, its default where it was not set."""
    value = desk.owner.settings().get(name)
    if value is None:
        raise stop("not_found", what=f"no setting {name}", hint="hcpx config list")
    return Answer({"name": name, "value": value}, text=value)


@group.command("list", cls=OwnerRead, empty={"settings": {}})
def list_(desk: Desk) -> Answer:
    """List the settings, defaults too."""
    found = desk.owner.settings()
    rows = [{"name": name, "value": value} for name, value in found.items()]
    return Answer({"settings": found}, rows=rows)


@group.command("unset", cls=Change)
@click.argument("name")
def unset(desk: Desk, name: str) -> Answer:
    """Go back to the default."""
    desk.owner.configure(name, None)
    return Answer({"name": name}, text=f"{name} is at its default")

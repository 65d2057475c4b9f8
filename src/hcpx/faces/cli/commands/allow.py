"""`hcpx allow`: programs of this host that packs may run (Spec 02 section 2, bin)."""

from __future__ import annotations

from typing import Any

import click

from hcpx.faces.cli.answer import Answer, stop
from hcpx.faces.cli.kinds import Desk, InSession, Question, as_change, as_owner


class _Allow(InSession):
    """Lists without making a store; allows and removes as a change."""

    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        """Choose by what is given."""
        if not given.pop("shown"):
            return as_change(allowed, given, question)
        if given.pop("bin_name") is not None or given.pop("removed") is not None:
            raise stop("usage", what="--list stands alone", hint="hcpx allow --help")
        given.pop("removed", None)
        return as_owner(_list, given, question, {"allowed": {}})


@click.command("allow", cls=_Allow)
@click.argument("bin_name", metavar="[BIN]", required=False)
@click.option("--list", "shown", is_flag=True, help="List what is allowed.")
@click.option("--remove", "removed", metavar="BIN", help="Take a program off the list.")
def allow(**_: object) -> None:
    """Let packs run a program of this host: a name on the search path, or a whole path."""


def allowed(desk: Desk, bin_name: str | None, removed: str | None) -> Answer:
    """Put a program on the list, or take one off."""
    if (bin_name is None) == (removed is None):
        raise stop("usage", what="name one program to allow, or one to remove", hint="hcpx allow --help")
    if removed is not None:
        desk.owner.allow_list.remove(removed)
        return Answer({"bin": removed}, text=f"{removed} is no longer allowed")
    name = str(bin_name)
    real = desk.owner.allow(name)
    return Answer({"bin": name, "path": real}, text=f"{name} is allowed: {real}")


def _list(desk: Desk) -> Answer:
    found = dict(desk.owner.allow_list.list())
    return Answer({"allowed": found}, rows=[{"bin": name, "path": path} for name, path in found.items()])

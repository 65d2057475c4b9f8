"""`hcpx project`: directories that the owner registered."""

from __future__ import annotations

import click
import msgspec

from hcpx.faces.cli.answer import Answer
from hcpx.faces.cli.kinds import Change, Desk, Read
from hcpx.runtime.view import View

project = click.Group("project", help="Directories that calls may work in.")


@project.command("add", cls=Change)
@click.argument("project_id", metavar="ID")
@click.argument("directory", metavar="DIR")
def add(desk: Desk, project_id: str, directory: str) -> Answer:
    """Register a directory under an id."""
    found = desk.owner.projects.add(desk.owner.tenant, project_id, directory)
    return Answer(msgspec.to_builtins(found), text=f"project {found.id} is {found.directory}")


@project.command("list", cls=Read, empty={"projects": []})
def list_(view: View) -> Answer:
    """List projects."""
    rows = [msgspec.to_builtins(one) for one in view.projects()]
    return Answer({"projects": rows}, rows=rows)


@project.command("remove", cls=Change)
@click.argument("project_id", metavar="ID")
def remove(desk: Desk, project_id: str) -> Answer:
    """Forget a project; its directory stays as it is."""
    desk.question.settle(f"Forget project {project_id}? Its directory stays as it is.")
    desk.owner.projects.remove(desk.owner.tenant, project_id)
    return Answer({"id": project_id}, text=f"project {project_id} is forgotten, its directory as it was")

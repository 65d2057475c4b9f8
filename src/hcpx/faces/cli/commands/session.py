"""`hcpx session`: live, revocable credentials, each as narrow as it was made (Spec 01 section 1)."""

from __future__ import annotations

import click
import msgspec

from hcpx.faces.cli.answer import Answer, fields
from hcpx.faces.cli.exec_line import seconds
from hcpx.faces.cli.kinds import Change, Desk, Read
from hcpx.faces.cli.times import written
from hcpx.runtime.owner import SessionRow
from hcpx.runtime.view import View

session = click.Group("session", help="Sessions: credentials that can be narrowed and revoked.")


@session.command("new", cls=Change)
@click.option("--principal", metavar="NAME", help="Whom calls are made for, by default you: user:ada.")
@click.option("--actor", metavar="NAME", help="Who acts for that principal: agent:claude.")
@click.option("--tenant", metavar="ID", help="The tenant, by default your own.")
@click.option("--project", metavar="ID", help="The project that calls work in.")
@click.option("--pack", "packs", metavar="ID", multiple=True, help="Only this pack (repeatable).")
@click.option("--verb", "verbs", metavar="KEY", multiple=True, help="Only this command (repeatable).")
@click.option("--read-only", is_flag=True, help="Only commands that read.")
@click.option("--ttl", metavar="TIME", help="How long it lives: 90s, 5m, 8h, 2d.")
def new(desk: Desk, *, ttl: str | None, read_only: bool, **names: str | tuple[str, ...] | None) -> Answer:
    """Make a session and print its token, which is stored nowhere."""
    token, row = desk.owner.new_session(
        **names,  # pyright: ignore[reportArgumentType] -- the options above, by their names
        read_only=read_only,
        ttl_s=None if ttl is None else seconds(ttl),
    )
    return Answer({"token": token, **_session(row)}, text=token)


@session.command("list", cls=Read, empty={"sessions": []})
def list_(view: View) -> Answer:
    """List sessions, ended ones too."""
    rows = view.sessions()
    found = [_session(row) for row in rows]
    columns = ("id", "principal", "actor", "project", "live", "expires_at")
    lines = [
        {name: one.get(name) for name in columns} | {"packs": " ".join(sorted(row.activations))}
        for one, row in zip(found, rows, strict=True)
    ]
    return Answer({"sessions": found}, rows=lines)


@session.command("show", cls=Read)
@click.argument("session_id", metavar="ID", required=False)
def show(view: View, session_id: str | None) -> Answer:
    """Show one session, by default the one in use."""
    found = _session(view.session_row(session_id))
    return Answer(found, rows=fields(found))


@session.command("revoke", cls=Change)
@click.argument("session_id", metavar="ID")
def revoke(desk: Desk, session_id: str) -> Answer:
    """End a session at once, for good."""
    desk.question.settle(f"Revoke session {session_id} for good?")
    row = desk.owner.sessions.revoke(session_id)
    return Answer(_session(row), text=f"session {session_id} is revoked")


def _session(row: SessionRow) -> dict[str, object]:
    scope = None if row.scope is None else [msgspec.to_builtins(grant) for grant in row.scope]
    found: dict[str, object | None] = {
        "id": row.id,
        "kind": row.kind,
        "tenant": row.tenant,
        "principal": row.principal,
        "actor": row.actor,
        "project": row.project,
        "live": row.live,
        "scope": scope,
        "activations": row.activations,
        "created_at": written(row.created_at),
        "expires_at": written(row.expires_at),
        "revoked_at": written(row.revoked_at),
    }
    return {name: value for name, value in found.items() if value is not None}

"""`hcpx grant`, `revoke` and `grants`: rights of principals (Spec 01 section 1)."""

from __future__ import annotations

import click
import msgspec

from hcpx.faces.cli.answer import Answer, Stop, stop
from hcpx.faces.cli.files import text_of
from hcpx.faces.cli.kinds import Change, Desk, Read
from hcpx.faces.cli.times import moment, written
from hcpx.runtime.owner import GrantRow
from hcpx.runtime.view import View
from hcpx.vocabulary.capability import CAPABILITIES, Grant
from hcpx.vocabulary.denial import Denial

_PRINCIPAL = click.argument("principal", metavar="PRINCIPAL")
_CAPABILITY = click.argument("capability", metavar="CAPABILITY", type=click.Choice(CAPABILITIES))
_PACK = click.option("--pack", "pack_id", metavar="ID", required=True, help="A pack, or '*' for all.")
_VERB = click.option(
    "--verb",
    "verbs",
    metavar="KEY",
    multiple=True,
    required=True,
    help="A command, or '*' for all (repeatable).",
)


@click.command("grant", cls=Change)
@_PRINCIPAL
@_CAPABILITY
@_PACK
@_VERB
@click.option("--args-schema", metavar="FILE", help="A JSON Schema that the args must meet.")
@click.option("--until", metavar="TIME", help="When it ends: 2030-01-01T00:00:00Z, or 8h from now.")
def grant(
    desk: Desk,
    principal: str,
    capability: str,
    pack_id: str,
    verbs: tuple[str, ...],
    args_schema: str | None,
    until: str | None,
) -> Answer:
    """Give a principal a right."""
    given = Grant(
        capability,
        pack_id,
        verbs,
        None if args_schema is None else text_of(args_schema),
        None if until is None else moment(until),
    )
    row = desk.owner.grant(principal, given)
    return Answer(_grant(row), text=f"{principal} has {capability} for {pack_id}: {' '.join(row.grant.verb_keys)}")


@click.command("revoke", cls=Change)
@click.argument("principal", metavar="[PRINCIPAL", required=False)
@click.argument("capability", metavar="CAPABILITY]", required=False)
@click.option("--pack", "pack_id", metavar="ID", help="The pack of the grant.")
@click.option("--verb", "verbs", metavar="KEY", multiple=True, help="Its commands (repeatable).")
@click.option("--id", "number", type=int, metavar="NUMBER", help="The grant's number in `hcpx grants`.")
def revoke(
    desk: Desk,
    principal: str | None,
    capability: str | None,
    pack_id: str | None,
    verbs: tuple[str, ...],
    number: int | None,
) -> Answer:
    """Take a right back, named as it was given or by its number."""
    tenant = desk.owner.tenant
    if number is not None:
        if principal is not None or pack_id is not None or verbs:
            raise stop("usage", what="a grant is named by --id alone, or by what it says", hint="hcpx grants")
        desk.owner.grants.revoke_id(tenant, number)
        return Answer({"revoked": [number]}, text=f"grant {number} is revoked")
    if principal is None or capability is None or pack_id is None or not verbs:
        what = "a grant is named by PRINCIPAL CAPABILITY --pack ID --verb KEY, or by --id NUMBER"
        raise stop("usage", what=what, hint="hcpx grants")
    gone = desk.owner.grants.revoke(tenant, principal, Grant(capability, pack_id, verbs))
    return Answer({"revoked": [row.id for row in gone]}, text=f"{principal} has lost {capability} for {pack_id}")


@click.command("grants", cls=Read, empty={"grants": []})
@click.argument("principal", metavar="[PRINCIPAL]", required=False)
def grants(view: View, principal: str | None) -> Answer:
    """List rights, of everybody or of one principal."""
    found = view.grants(principal)
    if isinstance(found, Denial):
        raise Stop(found)
    rows = [_grant(row) for row in found]
    lines = [_grant(row) | {"verb_keys": " ".join(row.grant.verb_keys)} for row in found]
    return Answer({"grants": rows}, rows=lines)


def _grant(row: GrantRow) -> dict[str, object]:
    fields = msgspec.to_builtins(row.grant) | {"until": written(row.grant.until)}
    fields = {"id": row.id, "principal": row.principal} | fields | {"created_at": written(row.created_at)}
    return {name: value for name, value in fields.items() if value is not None}

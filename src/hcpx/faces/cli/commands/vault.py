"""`hcpx vault`: the encrypted credentials and their key (Spec 03, the vault)."""

from __future__ import annotations

import click
import msgspec

from hcpx.faces.cli.answer import Answer
from hcpx.faces.cli.kinds import Change, Desk, OwnerRead

vault = click.Group("vault", help="The encrypted credentials and their key.")


@vault.command("status", cls=OwnerRead, empty={"secrets": 0, "rotating": False})
def status(desk: Desk) -> Answer:
    """Say how many secrets there are, where their key is, and whether it can be had."""
    found = desk.owner.vault_status()
    fields = {name: value for name, value in msgspec.to_builtins(found).items() if value is not None}
    rows = [{"field": name, "value": value} for name, value in fields.items()]
    return Answer(fields, rows=rows, status=0 if found.problem is None else 1)


@vault.command("rotate", cls=Change)
def rotate(desk: Desk) -> Answer:
    """Encrypt every secret under a new key; killed at any point, nothing is lost."""
    count = desk.owner.rotate_vault()
    return Answer({"secrets": count}, text=f"{count} secret(s) are encrypted under a new key")

"""`hcpx connect`, `disconnect`, `bindings`: credentials, never an argument and never printed (Spec 03)."""

from __future__ import annotations

import sys

import click

from hcpx.faces.cli.answer import Answer, stop
from hcpx.faces.cli.kinds import Change, Desk, Read
from hcpx.faces.cli.times import written
from hcpx.runtime.bindings import Connection
from hcpx.runtime.view import View
from hcpx.vocabulary.denial import shell_quoted

_MOST = 1024 * 1024
_FAMILY = click.option("--family", metavar="NAME", help="user, local or mothership, where the pack asks for several.")
_PRINCIPAL = click.option("--principal", metavar="NAME", help="Whose credential, by default your own.")


class _Connect(Change):
    """Repeats no word that it did not expect: it may be the secret."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            raise click.UsageError("a secret is no argument: others could read it; pipe it in", ctx)
        return rest


@click.command("connect", cls=_Connect)
@click.argument("pack_id", metavar="PACK")
@_FAMILY
@_PRINCIPAL
def connect(desk: Desk, pack_id: str, family: str | None, principal: str | None) -> Answer:
    """Store a credential for a pack: read from stdin, or asked for without showing it."""
    chosen = desk.owner.bindings.family(pack_id, family)
    secret = _secret(desk, pack_id, chosen)
    kept = desk.owner.bindings.connect(pack_id, secret, family=chosen, principal=principal)
    return Answer(_binding(kept), text=f"{pack_id} is connected ({kept.family})", notes=kept.warnings)


@click.command("disconnect", cls=Change)
@click.argument("pack_id", metavar="PACK")
@_FAMILY
@_PRINCIPAL
def disconnect(desk: Desk, pack_id: str, family: str | None, principal: str | None) -> Answer:
    """Forget a credential."""
    desk.question.settle(f"Forget the credential of {pack_id}?")
    gone = desk.owner.bindings.disconnect(pack_id, family=family, principal=principal)
    return Answer({"pack_id": pack_id, "family": gone}, text=f"{pack_id} is disconnected ({gone})")


@click.command("bindings", cls=Read, empty={"bindings": []})
def bindings(view: View) -> Answer:
    """List what is connected, without showing any of it."""
    rows = [_binding(one) for one in view.bindings()]
    return Answer({"bindings": rows}, rows=rows)


def _secret(desk: Desk, pack_id: str, family: str) -> str:
    if sys.stdin is not None and not sys.stdin.isatty():
        data = sys.stdin.buffer.read(_MOST + 1)
        if len(data) > _MOST:
            raise stop("usage", what="the secret is longer than 1 MiB")
        # One line break at the end is the file's, not the secret's.
        text = data.decode("utf-8", "surrogateescape")
        return text.removesuffix("\n").removesuffix("\r")
    if not desk.question.is_possible:
        hint = f"hcpx connect {shell_quoted(pack_id)} < FILE"
        raise stop("usage", what="the secret is read from stdin, which is a terminal here", hint=hint)
    from getpass import getpass

    try:
        return getpass(f"Secret for {pack_id} ({family}), not shown: ", stream=sys.stderr)
    except EOFError:
        raise stop("usage", what="no secret was given") from None


def _binding(one: Connection) -> dict[str, object]:
    found: dict[str, object | None] = {
        "pack_id": one.pack_id,
        "family": one.family,
        "principal": one.principal,
        "credential_id": one.credential_id,
        "kind": one.kind,
        "connected_at": written(one.connected_at),
        "expires_at": written(one.expires_at),
    }
    return {name: value for name, value in found.items() if value is not None}

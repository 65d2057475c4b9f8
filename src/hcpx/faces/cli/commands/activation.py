"""`hcpx activate` and `deactivate`: pin a pack to a session (Spec 02 section 3)."""

from __future__ import annotations

import sys

import click
import msgspec

from hcpx.faces.cli.answer import Answer
from hcpx.faces.cli.kinds import Change, Desk
from hcpx.faces.cli.people import plain
from hcpx.vocabulary.pack import FOLLOW

_ON = click.option("--on", "session_id", metavar="SESSION", help="A session's id, by default the owner's own.")


@click.command("activate", cls=Change)
@click.argument("pack_id", metavar="PACK")
@_ON
@click.option("--follow", is_flag=True, help="Of a linked pack: take its changes as they come.")
def activate(desk: Desk, pack_id: str, session_id: str | None, *, follow: bool) -> Answer:
    """Pin a pack as it is now to a session: what it asks for, or what changed, is shown first."""
    packs = desk.owner.packs
    seen = packs.show(pack_id).digest
    asked = packs.asked(pack_id, session_id)
    # Who followed the pack took its changes as they came, so there is no version to compare with.
    first = packs.activation(pack_id, session_id) in (None, FOLLOW)
    if asked and not desk.question.as_json:
        head = "asks for" if first else "has changed since it was activated"
        sys.stderr.write(f"{pack_id} {head}:\n" + "".join(f"  {plain(one.text)}\n" for one in asked))
        desk.question.settle(f"Activate {pack_id}?")
    pack = packs.activate(pack_id, session_id, follow=follow, seen=seen)
    value = {
        "pack_id": pack.id,
        "version": pack.version,
        "digest": pack.digest,
        "follow": follow,
        "changes": [msgspec.to_builtins(one) for one in asked],
    }
    return Answer(value, text=f"{pack.id} {pack.version} is activated")


@click.command("deactivate", cls=Change)
@click.argument("pack_id", metavar="PACK")
@_ON
def deactivate(desk: Desk, pack_id: str, session_id: str | None) -> Answer:
    """Take a pack off a session."""
    desk.owner.packs.deactivate(pack_id, session_id)
    return Answer({"pack_id": pack_id}, text=f"{pack_id} is deactivated")

"""Installed packs, activations and what changed (Spec 02 section 3), as the owner handles them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from hcpx.packs import diff
from hcpx.packs.gate import lint
from hcpx.packs.install import Added, Installer
from hcpx.packs.install import Refused as PackRefused
from hcpx.ports.rows import PackRow
from hcpx.store.errors import Exists, NotFound, Refused
from hcpx.store.session_rows import SessionRow
from hcpx.vocabulary.capability import ANY, NEEDED, Grant
from hcpx.vocabulary.change import Change
from hcpx.vocabulary.finding import Finding, errors
from hcpx.vocabulary.pack import FOLLOW, Pack
from hcpx.vocabulary.policy import PolicyRow, tightened

from .desk import installed
from .shipped import shipped, shipped_ids

if TYPE_CHECKING:
    from .owner import Owner
    from .parts import Parts


class PackDesk:
    """What the owner does with packs."""

    def __init__(self, parts: Parts, owner: Owner) -> None:
        self._parts = parts
        self._owner = owner
        self._installer = Installer(parts.shelf, parts.pack_rows, parts.clock, parts.catalog.settled)

    def add(self, source: str, *, link: bool = False, replace: bool = False) -> Added | PackRefused:
        """Install a folder or archive, or the pack of that name that comes with hcpx; `link` uses a folder in place."""
        place = source
        if not os.path.exists(source):
            place = shipped(source) or source
        put = self._installer.link if link else self._installer.add
        added = put(self._owner.tenant, place, replace=replace)
        if isinstance(added, PackRefused) and added.denial.code == "not_found" and not link:
            hint = f"with hcpx come: {', '.join(shipped_ids())}"
            return msgspec.structs.replace(added, denial=msgspec.structs.replace(added.denial, hint=hint))
        return added

    def remove(self, pack_id: str) -> None:
        """Take a pack out; raises `NotFound`."""
        denial = self._installer.remove(self._owner.tenant, pack_id)
        if denial is not None:
            raise NotFound(denial.error)

    def list(self) -> Sequence[PackRow]:
        """Return the installed packs by id."""
        return self._parts.catalog.list(self._owner.tenant)

    def show(self, pack_id: str) -> Pack:
        """Return a pack as it is now; raises `NotFound`."""
        return installed(self._parts, self._owner.tenant, pack_id)

    def row(self, pack: Pack, verb_key: str) -> PolicyRow:
        """Return the effective row of a command."""
        return tightened(pack.policy[verb_key], self._parts.catalog.overlay(self._owner.tenant, pack.id, verb_key))

    def findings(self, pack_id: str) -> tuple[Finding, ...]:
        """Return what lint says now of an installed pack."""
        return self._parts.catalog.findings(self._owner.tenant, pack_id)

    def lint(self, folder: str) -> Sequence[Finding]:
        """Return what lint says of a folder, judged beside the installed packs."""
        return lint(folder, installed=lambda pack_id: self._parts.catalog.settled(self._owner.tenant, pack_id))

    def activation(self, pack_id: str, session_id: str | None = None) -> str | None:
        """Return the digest (or `follow`) that the pack is activated with, None where it is not."""
        return self._session(session_id).activations.get(pack_id)

    def asked(self, pack_id: str, session_id: str | None = None) -> tuple[Change, ...]:
        """Return what activating asks for: everything at first, later what changed since."""
        pack = self.show(pack_id)
        before = self.activation(pack_id, session_id)
        if before == pack.digest:
            return ()
        return diff.changes(None if before is None else self._parts.catalog.version(before), pack)

    def activate(
        self, pack_id: str, session_id: str | None = None, *, follow: bool = False, seen: str | None = None
    ) -> Pack:
        """Pin the pack as it is now to the session; `follow` accepts changes of a linked one.

        `seen` is the digest that somebody agreed to: nothing else is pinned then. In the owner's own session the
        owner is granted the pack's commands, so that first use needs no ceremony. Raises `NotFound`, and `Refused`
        where lint refuses what is there now, or where that is not what was seen.
        """
        pack = self.show(pack_id)
        if seen is not None and pack.digest != seen:
            raise Refused(f"pack {pack_id} has changed since it was shown; nothing was activated, look at it again")
        if follow and not pack.linked:
            raise Refused("only a linked pack can be followed; link it: hcpx pack add --link PATH")
        bad = errors(self.findings(pack_id))
        if bad:
            raise Refused(f"pack {pack_id} does not pass lint: {bad[0]}")
        session = self._session(session_id)
        self._owner.sessions.activate(session.id, pack_id, FOLLOW if follow else pack.digest)
        if session.id == self._owner.session.id:
            self._grant(session.principal, pack)
        return pack

    def deactivate(self, pack_id: str, session_id: str | None = None) -> None:
        """Take the pack off the session; raises `NotFound` where it was not active."""
        session = self._session(session_id)
        if pack_id not in session.activations:
            raise NotFound(f"pack {pack_id} is not activated")
        self._owner.sessions.deactivate(session.id, pack_id)

    def _session(self, session_id: str | None) -> SessionRow:
        return self._owner.sessions.owner() if session_id is None else self._owner.sessions.show(session_id)

    def _grant(self, principal: str, pack: Pack) -> None:
        for capability in sorted({NEEDED[row.operation] for row in pack.policy.values()}):
            try:
                self._owner.grant(principal, Grant(capability, pack.id, (ANY,)))
            except Exists:
                continue

"""What the bootstrap pack's commands ask the runtime: all of it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hcpx.packs import skills
from hcpx.packs.bootstrap.handlers import Check, PackTitle
from hcpx.pipeline.step5_mint import mint_request
from hcpx.store.errors import NotFound
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Target
from hcpx.vocabulary.pack import BOOTSTRAP, Pack, inactive
from hcpx.vocabulary.policy import PolicyRow, tightened
from hcpx.vocabulary.principal import Session

from .shipped import shipped

if TYPE_CHECKING:
    from .parts import Parts


def installed(parts: Parts, tenant: str, pack_id: str) -> Pack:
    """Return a pack as it is now; raises `NotFound`."""
    pack = parts.catalog.find(tenant, pack_id)
    if pack is None:
        source = pack_id if shipped(pack_id) is not None else "PATH"
        raise NotFound(f"no pack {pack_id} is installed; run: hcpx pack add {source}")
    return pack


class RuntimeDesk:
    """Implements `hcpx.packs.bootstrap.handlers.Desk` over the parts of a store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def installed(self, tenant: str) -> Sequence[PackTitle]:
        """Return every installed pack of the tenant."""
        return [PackTitle(row.pack_id, row.title) for row in self._parts.catalog.list(tenant)]

    def active(self, session: Session) -> Sequence[Pack]:
        """Return the packs active on the session and unchanged, by id, the bootstrap pack among them."""
        found = (self._parts.catalog.find(session.tenant, pack_id) for pack_id in {*session.activations, BOOTSTRAP})
        packs = [pack for pack in found if pack is not None and _inactive(session, pack) is None]
        return sorted(packs, key=lambda pack: pack.id)

    def row(self, session: Session, pack: Pack, verb_key: str) -> PolicyRow:
        """Return the effective row of a command."""
        return tightened(pack.policy[verb_key], self._parts.catalog.overlay(session.tenant, pack.id, verb_key))

    def outlook(self, session: Session, pack_id: str, verb_key: str) -> Denial | None:
        """Say what a call with good args, confirm and its approvals would be denied with."""
        return self._parts.gate.outlook(session, pack_id, verb_key)

    def binding_state(self, session: Session, pack: Pack, row: PolicyRow) -> str:
        """Return `none`, `fresh`, `expiring`, `stale` or `missing`."""
        if row.binding == "public":
            return "none"
        command = next(iter(pack.commands.values()))
        denial = self._parts.ports.hub.state(mint_request(Target(pack, command, row, session), row.binding))
        if denial is None:
            return "fresh"
        return "missing" if denial.code == "binding_missing" else "stale"

    def skills(self, session: Session, pack_id: str | None) -> Sequence[Mapping[str, object]] | Denial:
        """Return the leads of one pack, or of every active one."""
        if pack_id is None:
            packs: Sequence[Pack] = [pack for pack in self.active(session) if pack.id != BOOTSTRAP]
        else:
            pack = self._active_pack(session, pack_id)
            if isinstance(pack, Denial):
                return pack
            packs = [pack]
        return [
            {"pack": pack.id, "name": lead.name, "description": lead.description}
            for pack in packs
            for lead in skills.leads(pack)
        ]

    def skill_text(self, session: Session, pack_id: str, name: str, file: str | None) -> str | Denial:
        """Return the full text of a Skill, or of a file beside it."""
        pack = self._active_pack(session, pack_id)
        if isinstance(pack, Denial):
            return pack
        return skills.full_text(pack, name) if file is None else skills.file_beside(pack, name, file)

    def checks(self) -> Sequence[Check]:
        """Look at store, audit chain, sandbox, vault, search path and clock."""
        from .doctor import checks

        return checks(self._parts)

    def _active_pack(self, session: Session, pack_id: str) -> Pack | Denial:
        pack = self._parts.catalog.find(session.tenant, pack_id)
        if pack is None:
            return deny("unknown_pack", pack_id=pack_id)
        code = _inactive(session, pack)
        return pack if code is None else deny(code, pack_id=pack_id)


def _inactive(session: Session, pack: Pack) -> str | None:
    return inactive(pack, session.activations.get(pack.id))

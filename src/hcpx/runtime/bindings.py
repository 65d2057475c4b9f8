"""Connected credentials, as the owner handles them (Spec 03, connect)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hcpx.store.errors import NotFound, Refused
from hcpx.vocabulary.pack import Pack

if TYPE_CHECKING:
    from hcpx.ports import SecretRow

    from .owner import Owner
    from .parts import Parts


class BindingDesk:
    """Stores pasted secrets, lists what is connected without showing it, and forgets."""

    def __init__(self, parts: Parts, owner: Owner) -> None:
        self._parts = parts
        self._owner = owner

    def families(self, pack_id: str) -> Sequence[str]:
        """Return the families that the pack's rows ask for, `public` left out; raises `NotFound`."""
        pack = self._owner.packs.show(pack_id)
        return sorted({row.binding for row in pack.policy.values()} - {"public"})

    def connect(self, pack_id: str, secret: str, family: str | None = None, principal: str | None = None) -> str:
        """Store a secret for a principal (the owner by default) and return its family.

        Raises `NotFound` for an unknown pack, `Refused` where the family has to be named or the secret is empty.
        """
        pack = self._owner.packs.show(pack_id)
        chosen = self._family(pack, family)
        if not secret:
            raise Refused("the secret is empty: nothing was stored")
        self._parts.vault.put(self._owner.tenant, self._whose(principal), pack_id, chosen, secret)
        return chosen

    def disconnect(self, pack_id: str, family: str | None = None, principal: str | None = None) -> str:
        """Forget a secret and return its family; raises `NotFound` where there is none."""
        held = [row.family for row in self.list() if row.pack_id == pack_id and row.principal == self._whose(principal)]
        if family is None and len(held) > 1:
            raise Refused(f"pack {pack_id} is connected for {', '.join(held)}: say which with --family")
        chosen = family if family is not None else (held[0] if held else None)
        if chosen is None or not self._parts.vault.forget(self._owner.tenant, self._whose(principal), pack_id, chosen):
            raise NotFound(f"pack {pack_id} is not connected")
        return chosen

    def list(self) -> Sequence[SecretRow]:
        """Return what is connected; the secrets stay encrypted."""
        return self._parts.vault.rows(self._owner.tenant)

    def _whose(self, principal: str | None) -> str:
        return principal if principal is not None else self._owner.session.principal

    def _family(self, pack: Pack, family: str | None) -> str:
        known = self.families(pack.id)
        if family is not None and family not in known:
            raise Refused(f"no command of {pack.id} asks for {family!r}; its rows ask for {', '.join(known) or 'none'}")
        if family is None and len(known) != 1:
            asked = ", ".join(known)
            raise Refused(f"{pack.id} asks for {asked}: say which with --family" if known else f"{pack.id} needs none")
        return family if family is not None else known[0]

"""Connected credentials, as the owner handles them (Spec 03, connect)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hcpx.hub.connections import Connection, Connections
from hcpx.store.errors import NotFound, Refused
from hcpx.store.principals import checked_principal
from hcpx.vocabulary.denial import Denial

if TYPE_CHECKING:
    from .owner import Owner
    from .parts import Parts


class BindingDesk:
    """Stores pasted secrets, lists what is connected without showing it, and forgets."""

    def __init__(self, parts: Parts, owner: Owner) -> None:
        self._owner = owner
        self._connections = Connections(parts.vault)

    def families(self, pack_id: str) -> Sequence[str]:
        """Return the families that the pack's rows ask for, `public` left out; raises `NotFound`."""
        pack = self._owner.packs.show(pack_id)
        return sorted({row.binding for row in pack.policy.values()} - {"public"})

    def connect(
        self, pack_id: str, secret: str, *, family: str | None = None, principal: str | None = None
    ) -> Connection:
        """Store a secret for a principal, the owner by default.

        Raises `NotFound` for an unknown pack, `Refused` where the family must be named or the secret cannot be used.
        """
        kept = self._connections.keep_secret(
            self._owner.tenant, self._whose(principal), pack_id, self.family(pack_id, family), secret
        )
        if isinstance(kept, Denial):
            raise Refused(kept.error)
        return kept

    def disconnect(self, pack_id: str, *, family: str | None = None, principal: str | None = None) -> str:
        """Forget a secret and return its family; raises `NotFound` where there is none."""
        held = sorted({one.family for one in self.list() if one.pack_id == pack_id})
        if family is None and len(held) > 1:
            raise Refused(f"pack {pack_id} is connected for {', '.join(held)}: say which with --family")
        chosen = family if family is not None else next(iter(held), None)
        whose = self._whose(principal)
        if chosen is None or not self._connections.forget(self._owner.tenant, whose, pack_id, chosen):
            raise NotFound(f"pack {pack_id} is not connected for {whose}")
        return chosen

    def list(self, tenant: str | None = None) -> Sequence[Connection]:
        """Return what is connected in a tenant, the owner's by default; nothing is decrypted."""
        return self._connections.list(self._owner.tenant if tenant is None else tenant)

    def family(self, pack_id: str, family: str | None) -> str:
        """Return the family to connect: the one that is named, or the only one that the pack asks for."""
        known = self.families(pack_id)
        if family is not None and family in known:
            return family
        asked = ", ".join(known) or "none"
        if family is not None:
            raise Refused(f"no command of {pack_id} asks for {family!r}; its rows ask for {asked}")
        if len(known) != 1:
            raise Refused(f"{pack_id} asks for {asked}: say which with --family" if known else f"{pack_id} needs none")
        return known[0]

    def _whose(self, principal: str | None) -> str:
        """Return the principal, or raise `Refused`: what is no id could never be called for."""
        return checked_principal(principal) if principal is not None else self._owner.session.principal

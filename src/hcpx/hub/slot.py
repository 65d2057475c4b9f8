"""Where a credential belongs: the four names that its ciphertext is bound to."""

from __future__ import annotations

from typing import Final

import msgspec

from hcpx.vocabulary.binding import MintRequest

EVERYBODY: Final = "*"
"""The principal of what belongs to the tenant's machine or operator; no principal has such an id."""

FAMILIES: Final = ("user", "local", "mothership")


class Slot(msgspec.Struct, frozen=True):
    """The place of one credential in the vault."""

    tenant: str
    principal: str
    pack_id: str
    family: str

    def associated(self) -> bytes:
        """Return the four names as bytes that no other four names give: each with its length in front."""
        names = (self.tenant, self.principal, self.pack_id, self.family)
        encoded = [name.encode("utf-8", "surrogatepass") for name in names]
        return b"hcpx vault 1\0" + b"".join(len(name).to_bytes(4, "big") + name for name in encoded)


def slot(tenant: str, principal: str, pack_id: str, family: str) -> Slot:
    """Return the place of a credential: the principal's own for `user`, else the tenant's.

    The machine's login and the operator's credential are one for everybody whom the grants let use them.
    """
    return Slot(tenant, principal if family == "user" else EVERYBODY, pack_id, family)


def slot_of(request: MintRequest) -> Slot:
    """Return the place of the credential that a request asks for."""
    return slot(request.tenant, request.principal, request.pack_id, request.family)

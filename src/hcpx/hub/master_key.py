"""The vault's master key, and the places where it may be kept."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from hcpx.ports import StoreUnavailable

KEY_BYTES: Final = 32


class VaultKeyProblem(StoreUnavailable):
    """The master key cannot be had, or is another one; nothing was changed. The message names the way out."""


class VaultKeyMissing(VaultKeyProblem):
    """The key that the store names lies in none of its places."""


class MasterKey(msgspec.Struct, frozen=True):
    """32 random bytes of which other keys are made; `id` names them and tells nothing of them."""

    secret: bytes
    id: bytes

    def __repr__(self) -> str:
        """Show the id alone."""
        return f"MasterKey({self.id.hex()})"

    def derived(self, purpose: str) -> bytes:
        """Return the 32 bytes of the key for one purpose."""
        return hmac.digest(self.secret, f"hcpx vault: {purpose}".encode(), "sha256")


def master_key(secret: bytes) -> MasterKey:
    """Return the key that these 32 bytes are."""
    return MasterKey(secret, hmac.digest(secret, b"hcpx vault: id", "sha256")[:8])


def fresh_key() -> MasterKey:
    """Return a new key."""
    return master_key(os.urandom(KEY_BYTES))


class KeyPlace(Protocol):
    """Where a key is kept: the one in use, and the next one while a rotation is on its way."""

    name: str
    """What people know the place as."""

    def found(self) -> Iterator[MasterKey]:
        """Return the key in use and the next one, as far as they exist; raises `VaultKeyProblem`."""
        ...

    def make(self) -> MasterKey:
        """Make a key durable where there is none, and return the one that is there then."""
        ...

    def stage(self, key: MasterKey) -> None:
        """Make the next key durable beside the one in use."""
        ...

    def switch(self, key: MasterKey) -> None:
        """Put the next key in the place of the one in use, if it is this one; more than once is fine."""
        ...

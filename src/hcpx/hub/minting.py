"""What a minter is: one file that makes a credential of what the vault keeps (Spec 03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from hcpx.vocabulary.binding import MintRequest
from hcpx.vocabulary.denial import Denial

from .vault import Stored


class Minted(msgspec.Struct, frozen=True):
    """A credential: the values that templates may name, the ones among them that are secret, and its end."""

    values: Mapping[str, str]
    secrets: tuple[str, ...]
    expires_at: float | None = None

    def __repr__(self) -> str:
        """Tell nothing of the values."""
        return f"Minted(expires_at={self.expires_at})"


class Minter(Protocol):
    """Makes credentials of one kind."""

    @property
    def kind(self) -> str:
        """The kind of what is stored that this minter understands."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The template names that it gives a value for."""
        ...

    def mint(self, request: MintRequest, stored: Stored) -> Minted | Denial:
        """Make the credential, or say why not: never from anything but what is stored."""
        ...

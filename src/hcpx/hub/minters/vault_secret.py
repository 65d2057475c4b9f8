"""A secret that was pasted once and is handed over as it is."""

from __future__ import annotations

from typing import Final

import msgspec

from hcpx.hub.minting import Minted
from hcpx.hub.times import rfc3339
from hcpx.hub.vault import Stored
from hcpx.vocabulary.binding import MintRequest
from hcpx.vocabulary.denial import Denial

KIND: Final = "secret"
NAMES: Final = ("access_token", "secret", "expires_at")


class PastedSecret(msgspec.Struct, frozen=True):
    """The content that is stored."""

    secret: str

    def __repr__(self) -> str:
        """Tell nothing of it."""
        return "PastedSecret(...)"


class VaultSecret:
    """The minter of the kind `secret`; `expires_at` is an empty text where the secret has no end."""

    kind = KIND
    names = NAMES

    def mint(self, request: MintRequest, stored: Stored) -> Minted | Denial:
        """Return the secret under both of its names."""
        del request
        secret = msgspec.json.decode(stored.content, type=PastedSecret).secret
        end = "" if stored.expires_at is None else rfc3339(stored.expires_at)
        return Minted({"access_token": secret, "secret": secret, "expires_at": end}, (secret,), stored.expires_at)

"""Keyed digests of what calls contain, so that short contents cannot be guessed back (Spec 06 section 2)."""

from __future__ import annotations

import hmac

from .vault import Vault


class DigestSeal:
    """The port `Seal`; its key lies wrapped in the vault and outlives rotations: digests stay comparable."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._key: bytes | None = None

    def digest(self, content: bytes) -> str:
        """Return the HMAC of the content as text, `hmac-sha256:` and 64 hexadecimal digits."""
        if self._key is None:
            self._key = self._vault.digest_key()
        return f"hmac-sha256:{hmac.digest(self._key, content, 'sha256').hex()}"

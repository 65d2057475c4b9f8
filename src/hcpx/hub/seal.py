"""Keyed digests of what calls contain, so that short contents cannot be guessed back (Spec 06 section 2)."""

from __future__ import annotations

import hmac

from .vault import Vault


class DigestSeal:
    """The port `Seal`; its key lies wrapped in the vault and outlives rotations: digests stay comparable."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._keyed: hmac.HMAC | None = None

    def digest(self, content: bytes) -> str:
        """Return the HMAC of the content as text, `hmac-sha256:` and 64 hexadecimal digits."""
        if self._keyed is None:
            self._keyed = hmac.new(self._vault.digest_key(), digestmod="sha256")
        # A copy: keying anew looks the algorithm up again, which costs ten times as much after a program has run.
        one = self._keyed.copy()
        one.update(content)
        return f"hmac-sha256:{one.hexdigest()}"

"""AES-256-GCM for secrets at rest; the library is loaded when a secret is really handled."""

from __future__ import annotations

import os
from typing import Final

_NONCE_BYTES: Final = 12


class DoesNotOpen(Exception):
    """The ciphertext was made for another place or another key, or was changed."""


def sealed(key: bytes, content: bytes, associated: bytes) -> tuple[bytes, bytes]:
    """Return a fresh random nonce of 96 bits, and the ciphertext."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE_BYTES)
    return nonce, AESGCM(key).encrypt(nonce, content, associated)


def opened(key: bytes, nonce: bytes, ciphertext: bytes, associated: bytes) -> bytes:
    """Return the content, or raise `DoesNotOpen`."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(nonce, ciphertext, associated)
    except (InvalidTag, ValueError):
        raise DoesNotOpen from None

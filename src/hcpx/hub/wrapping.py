"""Wraps the key of digests under the master key, with what the standard library has.

A digest is taken of every call, so its key must open without a cipher being loaded: it is masked with an HMAC
of a fresh nonce, and authenticated by a second one.
"""

from __future__ import annotations

import hmac
import os
from typing import Final

from .master_key import KEY_BYTES, MasterKey, VaultKeyProblem

_VERSION: Final = b"\1"
_NONCE_BYTES: Final = 16
_TAG_BYTES: Final = 32


def wrapped(secret: bytes, key: MasterKey) -> bytes:
    """Return 32 secret bytes wrapped under the master key."""
    nonce = os.urandom(_NONCE_BYTES)
    body = _VERSION + nonce + _masked(secret, nonce, key)
    return body + _tag(body, key)


def fresh_wrapped(key: MasterKey) -> bytes:
    """Return 32 new random bytes wrapped under the master key."""
    return wrapped(os.urandom(KEY_BYTES), key)


def unwrapped(text: bytes, key: MasterKey) -> bytes:
    """Return the secret bytes, or raise `VaultKeyProblem`."""
    body, tag = text[:-_TAG_BYTES], text[-_TAG_BYTES:]
    whole = len(body) == len(_VERSION) + _NONCE_BYTES + KEY_BYTES and body.startswith(_VERSION)
    if not whole or not hmac.compare_digest(tag, _tag(body, key)):
        raise VaultKeyProblem("the key of digests in the store was changed; put a backup of the store back")
    nonce = body[len(_VERSION) : -KEY_BYTES]
    return _masked(body[-KEY_BYTES:], nonce, key)


def rewrapped(text: bytes, old: MasterKey, new: MasterKey) -> bytes:
    """Return the same secret bytes wrapped under another master key."""
    return wrapped(unwrapped(text, old), new)


def _masked(secret: bytes, nonce: bytes, key: MasterKey) -> bytes:
    mask = hmac.digest(key.derived("digest key mask"), nonce, "sha256")
    return bytes(left ^ right for left, right in zip(secret, mask, strict=True))


def _tag(body: bytes, key: MasterKey) -> bytes:
    return hmac.digest(key.derived("digest key tag"), body, "sha256")

"""Idempotency keys: which call holds one, and what it came to (Spec 06 section 3)."""

from __future__ import annotations

from typing import Final

from hcpx.ports import KeyUse
from hcpx.ports.rows import HeldKey

from . import queries
from .database import Database

# Rows are dropped a while after they stopped to count, so that no clock has to be exact.
_DROPPED_AFTER_S: Final = 48 * 3600


class Keys:
    """The port `KeyRows` over the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, use: KeyUse) -> HeldKey | None:
        """Return who holds the key, or None."""
        row = self._database.one(queries.KEY, (use.tenant, use.principal, use.key))
        return None if row is None else HeldKey(*row)

    def reserve(self, use: KeyUse, key: HeldKey) -> None:
        """Hold the key, in the place of whoever held it, and drop a few that ended long ago."""
        self._database.run(queries.KEYS_EXPIRE, (key.at - _DROPPED_AFTER_S,))
        values = (use.tenant, use.principal, use.key, key.digest, key.audit_id, key.holder, key.at)
        self._database.run(queries.KEY_RESERVE, values)

    def finish(self, use: KeyUse, audit_id: str, result: bytes | None) -> None:
        """Keep the result under the key of that call; None makes it free again."""
        name = (use.tenant, use.principal, use.key, audit_id)
        if result is None:
            self._database.run(queries.KEY_FREE, name)
        else:
            self._database.run(queries.KEY_FINISH, (result, *name))

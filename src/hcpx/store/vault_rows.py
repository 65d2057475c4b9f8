"""Secrets at rest, as the vault hands them over: the store sees ciphertext only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from hcpx.ports.rows import SecretRow
from hcpx.vocabulary.json_text import encode

from . import queries
from .database import Database, Row


class VaultRows:
    """The port `SecretRows` over the store (Spec 03, the vault)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, tenant: str, principal: str, pack_id: str, family: str) -> SecretRow | None:
        """Return the row of exactly these four, or None."""
        row = self._database.one(queries.VAULT_ROW, (tenant, principal, pack_id, family))
        return None if row is None else _read(row)

    def list(self, tenant: str | None = None) -> Sequence[SecretRow]:
        """Return the rows of a tenant, or all of them, in the order of their names."""
        if tenant is None:
            return [_read(row) for row in self._database.all(queries.VAULT_ROWS)]
        return [_read(row) for row in self._database.all(queries.VAULT_ROWS_OF, (tenant,))]

    def put(self, row: SecretRow, *, under: tuple[str, bytes] | None = None) -> bool:
        """Write the row, with `under` only while that vault fact still has that value."""
        with self._database.changing():
            if under is not None and self.meta(under[0]) != under[1]:
                return False
            self._put(row)
        return True

    def delete(self, tenant: str, principal: str, pack_id: str, family: str) -> bool:
        """Forget the row; False where there was none."""
        with self._database.changing():
            return self._database.run(queries.VAULT_REMOVE, (tenant, principal, pack_id, family)) == 1

    def meta(self, name: str) -> bytes | None:
        """Return a fact about the vault."""
        row = self._database.one(queries.VAULT_META, (name,))
        return None if row is None else row[0]

    def settle_meta(self, name: str, value: bytes) -> bytes:
        """Write a fact where there is none yet, and return the one that holds."""
        held = self.meta(name)
        if held is not None:
            return held
        with self._database.changing():
            self._database.run(queries.VAULT_META_ADD, (name, value))
            return self.meta(name) or value

    def renew(self, change: Callable[[SecretRow], SecretRow], meta: Mapping[str, bytes]) -> int:
        """Replace every row by what `change` makes of it, and the facts by `meta`, in one transaction."""
        with self._database.changing():
            rows = self.list()
            for row in rows:
                self._put(change(row))
            for name, value in meta.items():
                self._database.run(queries.VAULT_META_PUT, (name, value))
            return len(rows)

    def _put(self, row: SecretRow) -> None:
        self._database.run(
            queries.VAULT_PUT,
            (
                row.tenant,
                row.principal,
                row.pack_id,
                row.family,
                row.nonce,
                row.ciphertext,
                encode(row.meta).decode(),
                row.updated_at,
            ),
        )


def _read(row: Row) -> SecretRow:
    tenant, principal, pack_id, family, nonce, ciphertext, meta, updated_at = row
    facts: dict[str, object] = msgspec.json.decode(meta)
    return SecretRow(tenant, principal, pack_id, family, nonce, ciphertext, facts, updated_at)

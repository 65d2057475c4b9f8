"""Installed packs: one compiled row for each (tenant, pack)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hcpx.ports.rows import PackRow
from hcpx.vocabulary.principal import is_pack_id

from . import queries
from .cache import Cache
from .database import Database, Row
from .errors import Refused
from .principals import checked_tenant


class PackRows:
    """The port `PackRows` over the store; every change is on disk when it returns."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: Cache[tuple[str, str], PackRow | None] = Cache(database)

    def find(self, tenant: str, pack_id: str) -> PackRow | None:
        """Return the row of exactly this tenant and id, or None."""
        held = self._held.current()
        key = (tenant, pack_id)
        if key not in held:
            held[key] = self._read(key)
        return held[key]

    def list(self, tenant: str) -> Sequence[PackRow]:
        """Return the packs of a tenant, by id."""
        return [_row(row) for row in self._database.all(queries.PACKS, (tenant,))]

    def put(self, row: PackRow, *, replace: bool) -> bool:
        """Write the row; False, with nothing written, where another pack is there and not `replace`.

        Raises `Refused` for ids that are none.
        """
        checked_tenant(row.tenant)
        if not is_pack_id(row.pack_id):
            raise Refused(f"{row.pack_id!r} is no pack id")
        with self._database.changing():
            there = self._read((row.tenant, row.pack_id))
            if there is not None and not replace and (there.digest, there.root) != (row.digest, row.root):
                return False
            self._database.run(queries.PACK_PUT, msgspec.structs.astuple(row))
        return True

    def remove(self, tenant: str, pack_id: str) -> PackRow | None:
        """Forget the row and return it, or None where there was none."""
        with self._database.changing():
            row = self._read((tenant, pack_id))
            if row is not None:
                self._database.run(queries.PACK_REMOVE, (tenant, pack_id))
        return row

    def roots(self) -> Sequence[str]:
        """Return the `root` of every row of every tenant that is not linked."""
        return [row[0] for row in self._database.all(queries.PACK_ROOTS)]

    def _read(self, key: tuple[str, str]) -> PackRow | None:
        row = self._database.one(queries.PACK, key)
        return None if row is None else _row(row)


def _row(row: Row) -> PackRow:
    tenant, pack_id, version, title, digest, root, linked, compiled, installed_at = row
    return PackRow(tenant, pack_id, version, title, digest, root, bool(linked), compiled, installed_at)

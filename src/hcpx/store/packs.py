"""Installed packs: one compiled row for each (tenant, pack)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hcpx.vocabulary.principal import is_pack_id

from . import queries
from .database import Database, Row
from .errors import Exists, NotFound, Refused
from .principals import checked_tenant


class PackRow(msgspec.Struct, frozen=True):
    """An installed pack. `root` is its directory, `compiled` what was compiled from its manifest."""

    tenant: str
    pack_id: str
    version: str
    title: str
    digest: str
    root: str
    linked: bool
    compiled: bytes
    installed_at: float


class PackRows:
    """The packs of a tenant; every change is on disk when it returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, tenant: str, pack_id: str) -> PackRow | None:
        """Return the row of exactly that id, or None."""
        row = self._database.one(queries.PACK, (tenant, pack_id))
        return None if row is None else _read(row)

    def list(self, tenant: str) -> Sequence[PackRow]:
        """Return the packs of a tenant, by id."""
        return [_read(row) for row in self._database.all(queries.PACKS, (tenant,))]

    def put(self, row: PackRow, *, replace: bool) -> None:
        """Write a row. Raises `Refused`, and `Exists` where there is one and `replace` is not said."""
        checked_tenant(row.tenant)
        if not is_pack_id(row.pack_id):
            raise Refused(f"{row.pack_id!r} is no pack id")
        with self._database.changing():
            if not replace and self.get(row.tenant, row.pack_id) is not None:
                raise Exists(
                    f"pack {row.pack_id} is installed already; to put this one in its place: --replace"
                )
            self._database.run(queries.PACK_PUT, msgspec.structs.astuple(row))

    def remove(self, tenant: str, pack_id: str) -> PackRow:
        """Take a row out and return it. Raises `NotFound`."""
        with self._database.changing():
            row = self.get(tenant, pack_id)
            if row is None:
                raise NotFound(f"no pack {pack_id} in tenant {tenant}; see: hcpx pack list")
            self._database.run(queries.PACK_REMOVE, (tenant, pack_id))
            return row

    def uses_of(self, root: str) -> int:
        """Return how many rows, of all tenants, lie in that directory."""
        row = self._database.one(queries.PACK_ROOT_USES, (root,))
        return row[0] if row else 0


def _read(row: Row) -> PackRow:
    tenant, pack_id, version, title, digest, root, linked, compiled, installed_at = row
    return PackRow(tenant, pack_id, version, title, digest, root, bool(linked), compiled, installed_at)

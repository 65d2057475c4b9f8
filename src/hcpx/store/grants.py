"""Rights of principals, as the pipeline asks for them."""

from __future__ import annotations

import msgspec

from hcpx.ports import StoreUnavailable
from hcpx.vocabulary.capability import Grant

from . import queries
from .cache import Cache
from .database import Database, Row

_keys = msgspec.json.Decoder(tuple[str, ...])


class LiveGrants:
    """The port `Grants` over the store; a disabled or unknown principal has none."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: Cache[tuple[str, str, str, str], tuple[Grant, ...]] = Cache(database)

    def naming(self, tenant: str, principal: str, capability: str, pack_id: str) -> tuple[Grant, ...]:
        """Return the grants of an enabled principal for that capability whose pack is that one or `*`."""
        held = self._held.current()
        key = (tenant, principal, capability, pack_id)
        grants = held.get(key)
        if grants is None:
            grants = held[key] = tuple(read(row) for row in self._database.all(queries.GRANTS_NAMING, key))
        return grants


def read(row: Row) -> Grant:
    """Return the grant of a row (capability, pack_id, verb_keys, args_schema, until)."""
    capability, pack_id, verb_keys, args_schema, until = row
    try:
        return Grant(capability, pack_id, _keys.decode(verb_keys), args_schema, until)
    except msgspec.DecodeError:
        raise StoreUnavailable(f"a grant of {capability} cannot be read; revoke it: hcpx grants") from None

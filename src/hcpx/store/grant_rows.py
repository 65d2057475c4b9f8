"""The owner's side of grants: give, list, take back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hcpx.ports import Clock
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.json_text import encode

from . import queries
from .database import Database
from .errors import Exists, NotFound
from .grant_rules import checked_grant
from .grants import read
from .principals import Principals, checked_principal, checked_tenant


class GrantRow(msgspec.Struct, frozen=True):
    """A grant with whom it was given to; `created_at` is Unix seconds."""

    id: int
    principal: str
    grant: Grant
    created_at: float


class GrantRows:
    """Grants as the owner changes them; every change is on disk when it returns."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._principals = Principals(database, clock)

    def add(self, tenant: str, principal: str, grant: Grant) -> GrantRow:
        """Give a right. Raises `Refused` for what is no grant, `Exists` where the very same one is there."""
        return self.add_all(tenant, [(principal, grant)])[0]

    def add_all(self, tenant: str, given: Sequence[tuple[str, Grant]]) -> Sequence[GrantRow]:
        """Give several rights in one transaction: all of them, or none."""
        now = self._clock.now()
        checked_tenant(tenant)
        grants = [(checked_principal(principal), checked_grant(grant, now)) for principal, grant in given]
        with self._database.changing():
            return [self._add(tenant, principal, grant, now) for principal, grant in grants]

    def _add(self, tenant: str, principal: str, grant: Grant, now: float) -> GrantRow:
        self._principals.admit(tenant, principal)
        keys = encode(grant.verb_keys).decode()
        values = (tenant, principal, grant.capability, grant.pack_id, keys, grant.args_schema, grant.until)
        if self._database.one(queries.GRANT_SAME, values) is not None:
            raise Exists(f"{principal} has that grant of {grant.capability} for {grant.pack_id} already")
        return GrantRow(self._database.insert(queries.GRANT_ADD, (*values, now)), principal, grant, now)

    def list(self, tenant: str, principal: str | None = None) -> Sequence[GrantRow]:
        """Return the grants of a tenant, or of one of its principals."""
        if principal is None:
            rows = self._database.all(queries.GRANTS, (tenant,))
        else:
            rows = self._database.all(queries.GRANTS_OF_ONE, (tenant, principal))
        return [GrantRow(row[0], row[1], read(row[2:7]), row[7]) for row in rows]

    def revoke(self, tenant: str, principal: str, grant: Grant) -> Sequence[GrantRow]:
        """Take back every grant of that capability, pack and set of commands, whatever its schema and end.

        Raises `NotFound` where there is none: a narrower right than the one given cannot be taken back.
        """
        keys = set(grant.verb_keys)
        with self._database.changing():
            gone = [
                row
                for row in self.list(tenant, principal)
                if (row.grant.capability, row.grant.pack_id) == (grant.capability, grant.pack_id)
                and set(row.grant.verb_keys) == keys
            ]
            if not gone:
                raise NotFound(
                    f"{principal} has no such grant of {grant.capability} for {grant.pack_id};"
                    f" see: hcpx grants {principal}"
                )
            for row in gone:
                self._database.run(queries.GRANT_REMOVE, (row.id,))
            return gone

    def revoke_id(self, tenant: str, grant_id: int) -> None:
        """Take back the grant of that number. Raises `NotFound`."""
        with self._database.changing():
            if not any(row.id == grant_id for row in self.list(tenant)):
                raise NotFound(f"no grant {grant_id} in tenant {tenant}; see: hcpx grants")
            self._database.run(queries.GRANT_REMOVE, (grant_id,))

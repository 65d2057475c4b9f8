"""Tenants and principals: whom the store knows, and who is switched off."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hcpx.ports import Clock
from hcpx.vocabulary.principal import is_principal_id, is_scope_id

from . import queries
from .database import Database
from .errors import NotFound, Refused


class PrincipalRow(msgspec.Struct, frozen=True):
    """A principal or actor of a tenant; `created_at` is Unix seconds."""

    id: str
    enabled: bool
    created_at: float


class Principals:
    """The owner's list of principals and actors. A grant or a session makes its principal known."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def tenants(self) -> Sequence[str]:
        """Return the ids of the tenants."""
        return [row[0] for row in self._database.all(queries.TENANTS)]

    def list(self, tenant: str) -> Sequence[PrincipalRow]:
        """Return the principals and actors of a tenant, by id."""
        rows = self._database.all(queries.PRINCIPALS, (tenant,))
        return [PrincipalRow(name, bool(enabled), created_at) for name, enabled, created_at in rows]

    def admit(self, tenant: str, *names: str | None) -> None:
        """Make them known, inside a change; who is known already stays as they are, switched off too."""
        now = self._clock.now()
        self._database.run(queries.TENANT_ADD, (tenant, now))
        for name in names:
            if name is not None:
                self._database.run(queries.PRINCIPAL_ADD, (tenant, name, now))

    def enable(self, tenant: str, name: str) -> None:
        """Let a principal or actor call again. Raises `NotFound`."""
        self._switch(tenant, name, enabled=True)

    def disable(self, tenant: str, name: str) -> None:
        """End every right of a principal or actor, at once and in every session. Raises `NotFound`."""
        self._switch(tenant, name, enabled=False)

    def _switch(self, tenant: str, name: str, *, enabled: bool) -> None:
        with self._database.changing():
            if self._database.run(queries.PRINCIPAL_ENABLE, (int(enabled), tenant, name)) == 0:
                raise NotFound(f"no principal {name} in tenant {tenant}; see: hcpx principal list")


def checked_tenant(tenant: str) -> str:
    """Return the id of a tenant, or raise `Refused`."""
    if not is_scope_id(tenant):
        raise Refused(f"{tenant!r} is no tenant id: lower-case letters, digits and single dashes, at most 64")
    return tenant


def checked_principal(name: str) -> str:
    """Return the id of a principal or actor, or raise `Refused`."""
    if not is_principal_id(name):
        raise Refused(f"{name!r} is no principal id: kind:name, such as user:ada or agent:claude")
    return name

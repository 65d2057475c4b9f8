"""Results that were kept under a project, with their attribution, under a quota (Spec 06 section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from hcpx.ports import Clock, StoreUnavailable
from hcpx.vocabulary.principal import Session

from . import queries
from .database import Database
from .errors import NotFound

QUOTA_BYTES: Final = 256 * 1024 * 1024


class Kept(msgspec.Struct, frozen=True):
    """A kept result and what it is attributed to; `result` is None where it was only listed."""

    tenant: str
    project: str
    audit_id: str
    at: float
    principal: str
    actor: str | None
    session: str
    pack_id: str
    verb_key: str
    size: int
    result: bytes | None = None


class BrainRows:
    """The port `Brain` over the store; `quota` is in bytes, for each project. Nothing is dropped for room."""

    def __init__(self, database: Database, clock: Clock, quota: int = QUOTA_BYTES) -> None:
        self._database = database
        self._clock = clock
        self._quota = quota

    def keep(self, session: Session, audit_id: str, pack_id: str, verb_key: str, result: bytes) -> str | None:
        """Keep a result, on disk when this returns; returns None, or why it could not be kept."""
        if session.project is None:
            return "the session has no project"
        try:
            with self._database.writing(durable=True):
                return self._keep(session, session.project.id, (audit_id, pack_id, verb_key), result)
        except StoreUnavailable as problem:
            return str(problem)

    def _keep(self, session: Session, project: str, call: tuple[str, str, str], result: bytes) -> str | None:
        row = self._database.one(queries.BRAIN_USE, (session.tenant, project))
        used = row[0] if row else 0
        size = len(result)
        if used + size > self._quota:
            return (
                f"project {project} has {used} of {self._quota} bytes in use and this result has {size};"
                " raise the quota, or remove results that are not needed"
            )
        audit_id, pack_id, verb_key = call
        self._database.run(queries.BRAIN_USE_ADD, (session.tenant, project, size))
        self._database.run(
            queries.BRAIN_ADD,
            (
                session.tenant,
                project,
                audit_id,
                self._clock.now(),
                session.principal,
                session.actor,
                session.id,
                pack_id,
                verb_key,
                size,
                result,
            ),
        )
        return None

    def list(self, tenant: str, project: str, limit: int = 100) -> Sequence[Kept]:
        """Return the newest results of a project, without their content."""
        return [Kept(*row) for row in self._database.all(queries.BRAIN, (tenant, project, limit))]

    def show(self, tenant: str, audit_id: str) -> Kept:
        """Return one result by the call's audit id. Raises `NotFound`."""
        row = self._database.one(queries.BRAIN_SHOW, (tenant, audit_id))
        if row is None:
            raise NotFound(f"nothing was kept of call {audit_id}; see: hcpx brain list")
        return Kept(*row)

    def remove(self, tenant: str, audit_id: str) -> Kept:
        """Take one result out, which makes room, and return it. Raises `NotFound`."""
        with self._database.writing(durable=True):
            kept = self.show(tenant, audit_id)
            self._database.run(queries.BRAIN_REMOVE, (tenant, audit_id))
            self._database.run(queries.BRAIN_USE_ADD, (tenant, kept.project, -kept.size))
            return kept

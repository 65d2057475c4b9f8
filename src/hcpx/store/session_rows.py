"""The owner's side of sessions: new, list, activate, revoke (Spec 01 section 1)."""

from __future__ import annotations

import binascii
import math
import os
from collections.abc import Sequence
from typing import Final

import msgspec

from hcpx.ports import Clock
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.principal import is_pack_id

from . import queries
from .database import Database, Row
from .errors import NotFound, Refused
from .grant_rules import checked_grant
from .principals import Principals, checked_principal, checked_tenant
from .sessions import SKEW_S, token_hash

_PREFIX: Final = "hcps_"
_TOKEN_BYTES: Final = 32
_scope = msgspec.json.Decoder(tuple[Grant, ...])


class NewSession(msgspec.Struct, frozen=True):
    """What a session is to be. `expires_at` is Unix seconds; `activations` maps pack ids to digests.

    `scope` None leaves the principal's rights as they are, an empty one allows nothing.
    """

    tenant: str
    principal: str
    actor: str | None = None
    project: str | None = None
    scope: tuple[Grant, ...] | None = None
    expires_at: float | None = None
    activations: dict[str, str] = {}


class SessionRow(msgspec.Struct, frozen=True):
    """A session as the owner sees it. `live` is whether it would pass now; times are Unix seconds."""

    id: str
    kind: str
    tenant: str
    principal: str
    actor: str | None
    project: str | None
    scope: tuple[Grant, ...] | None
    activations: dict[str, str]
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    live: bool


class SessionRows:
    """Sessions as the owner changes them; every change is on disk when it returns."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._principals = Principals(database, clock)

    def new(self, asked: NewSession) -> tuple[str, SessionRow]:
        """Make a session and return its token with it: the token is nowhere else, only its hash is stored.

        Raises `Refused` for what is no session, `NotFound` for a project that is not registered.
        """
        now = self._clock.now()
        scope = self._checked(asked, now)
        token = _PREFIX + _random_text()
        session_id = self._clock.new_id("s")
        with self._database.changing():
            self._principals.admit(asked.tenant, asked.principal, asked.actor)
            self._check_project(asked)
            self._database.run(
                queries.SESSION_ADD,
                (
                    session_id,
                    "token",
                    token_hash(token),
                    asked.tenant,
                    asked.principal,
                    asked.actor,
                    asked.project,
                    None if scope is None else encode(scope).decode(),
                    now,
                    asked.expires_at,
                ),
            )
            for pack_id, digest in asked.activations.items():
                self._database.run(queries.ACTIVATE, (session_id, pack_id, digest, now))
        return token, self.show(session_id)

    def _checked(self, asked: NewSession, now: float) -> tuple[Grant, ...] | None:
        checked_tenant(asked.tenant)
        checked_principal(asked.principal)
        if asked.actor is not None:
            checked_principal(asked.actor)
        if asked.expires_at is not None and not (math.isfinite(asked.expires_at) and asked.expires_at > now):
            raise Refused("the session would end before it begins")
        for pack_id in asked.activations:
            _check_pack(pack_id)
        return None if asked.scope is None else tuple(checked_grant(grant, now) for grant in asked.scope)

    def _check_project(self, asked: NewSession) -> None:
        known = [row[0] for row in self._database.all(queries.PROJECTS, (asked.tenant,))]
        if asked.project is not None and asked.project not in known:
            raise NotFound(f"no project {asked.project} in tenant {asked.tenant}; run: hcpx project add ID DIR")

    def list(self, tenant: str) -> Sequence[SessionRow]:
        """Return the sessions of a tenant, ended ones too."""
        return [self._row(row) for row in self._database.all(queries.SESSIONS, (tenant,))]

    def show(self, session_id: str) -> SessionRow:
        """Return one session. Raises `NotFound`."""
        row = self._database.one(queries.SESSION, (session_id,))
        if row is None:
            raise NotFound(f"no session {session_id}; see: hcpx session list")
        return self._row(row)

    def owner(self) -> SessionRow:
        """Return the session of the store's owner. Raises `NotFound`."""
        row = self._database.one(queries.SESSION_OWNER)
        if row is None:
            raise NotFound("the owner's session is missing from the store; put a backup in its place")
        return self._row(row)

    def _row(self, row: Row) -> SessionRow:
        scope, expires_at, revoked_at, principal_on, actor_on = row[6], row[8], row[9], row[10], row[11]
        return SessionRow(
            id=row[0],
            kind=row[1],
            tenant=row[2],
            principal=row[3],
            actor=row[4],
            project=row[5],
            scope=None if scope is None else _scope.decode(scope),
            activations=dict(self._database.all(queries.ACTIVATIONS, (row[0],))),
            created_at=row[7],
            expires_at=expires_at,
            revoked_at=revoked_at,
            live=(
                revoked_at is None
                and (expires_at is None or row[7] - SKEW_S <= self._clock.now() < expires_at)
                and bool(principal_on)
                and (row[4] is None or bool(actor_on))
            ),
        )

    def revoke(self, session_id: str) -> SessionRow:
        """End a session at once, for good. Raises `NotFound`, and `Refused` for the owner's own."""
        with self._database.changing():
            session = self.show(session_id)
            if session.kind == "owner":
                raise Refused("the owner's own session has no token and cannot be revoked")
            self._database.run(queries.SESSION_REVOKE, (self._clock.now(), session_id))
        return self.show(session_id)

    def activate(self, session_id: str, pack_id: str, digest: str) -> None:
        """Activate a pack on a session, pinned to that digest (Spec 02 section 3). Raises `NotFound`."""
        _check_pack(pack_id)
        with self._database.changing():
            self.show(session_id)
            self._database.run(queries.ACTIVATE, (session_id, pack_id, digest, self._clock.now()))

    def deactivate(self, session_id: str, pack_id: str) -> None:
        """Take a pack off a session. Raises `NotFound` where it was not activated there."""
        with self._database.changing():
            if self._database.run(queries.DEACTIVATE, (session_id, pack_id)) == 0:
                raise NotFound(f"pack {pack_id} is not activated on session {session_id}")


def _check_pack(pack_id: str) -> None:
    if not is_pack_id(pack_id):
        raise Refused(f"{pack_id!r} is no pack id")


def _random_text() -> str:
    encoded = binascii.b2a_base64(os.urandom(_TOKEN_BYTES), newline=False).rstrip(b"=")
    return encoded.translate(bytes.maketrans(b"+/", b"-_")).decode()

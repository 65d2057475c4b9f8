"""Who is calling: live sessions, found by their token's hash or by the owner's right to this store."""

from __future__ import annotations

import hashlib
import os
from typing import Final

import msgspec

from hcpx.ports import Clock, Credential, StoreUnavailable
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.principal import Project, Session

from . import queries
from .cache import Cache
from .database import Database

SKEW_S: Final = 600.0
"""How far a clock may step back before what was made to end counts no more."""

_scope = msgspec.json.Decoder(tuple[Grant, ...])


def token_hash(token: str) -> bytes:
    """Return what the store keeps of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class LiveSessions:
    """The port `Sessions` over the store (Spec 01 section 1)."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._sessions: Cache[bytes | str | None, Session] = Cache(database)
        self._projects: Cache[str, tuple[Project, ...]] = Cache(database)

    def live(self, credential: Credential) -> Session | None:
        """Return the session where it is live, else None; the owner's own takes its project from the cwd."""
        changes = self._database.changes()
        session = self._current(None if credential.token is None else token_hash(credential.token), changes)
        if session is None or credential.cwd is None or not session.owner:
            return session
        taken = session.project is not None or session.actor is not None
        return session if taken else self._placed(session, credential.cwd, changes)

    def again(self, session: Session) -> Session | None:
        """Return the session as it is now where it still is live; the owner's own keeps the project that it had."""
        now = self._current(session.id, self._database.changes())
        return msgspec.structs.replace(now, project=session.project) if now is not None and now.owner else now

    def _current(self, key: bytes | str | None, changes: int) -> Session | None:
        """Return the live session of a token's hash, of an id or, with None, the owner's own."""
        held = self._sessions.at(changes)
        session = held.get(key)
        if session is None:
            session = self._read(key)
            if session is None:
                return None
            held[key] = session
        ended = session.expires_at is not None and self._clock.now() >= session.expires_at
        return None if ended else session

    def _read(self, key: bytes | str | None) -> Session | None:
        if key is None:
            row = self._database.one(queries.SESSION_OF_OWNER)
        else:
            query = queries.SESSION_OF_ID if isinstance(key, str) else queries.SESSION_OF_TOKEN
            row = self._database.one(query, (key, self._clock.now() + SKEW_S))
        if row is None:
            return None
        session_id, tenant, principal, actor, project, directory, scope, expires_at, kind = row
        return Session(
            id=session_id,
            tenant=tenant,
            principal=principal,
            actor=actor,
            project=Project(project, directory) if directory is not None else None,
            activations=dict(self._database.all(queries.ACTIVATIONS, (session_id,))),
            scope=None if scope is None else self._narrowed(session_id, scope),
            expires_at=expires_at,
            owner=kind == "owner",
        )

    def _narrowed(self, session_id: str, scope: str) -> tuple[Grant, ...]:
        try:
            return _scope.decode(scope)
        except msgspec.DecodeError:
            raise StoreUnavailable(
                f"the scope of session {session_id} cannot be read; run: hcpx session revoke {session_id}"
            ) from None

    def _placed(self, session: Session, cwd: str, changes: int) -> Session:
        """Return the owner's session with the innermost registered project around `cwd`."""
        held = self._projects.at(changes)
        projects = held.get(session.tenant)
        if projects is None:
            rows = self._database.all(queries.PROJECTS, (session.tenant,))
            projects = held[session.tenant] = tuple(Project(*row) for row in rows)
        project = around(cwd, projects) if projects else None
        return session if project is None else msgspec.structs.replace(session, project=project)


def around(cwd: str, projects: tuple[Project, ...]) -> Project | None:
    """Return the innermost project whose directory holds `cwd`: by path parts, after resolving its links."""
    try:
        parts = os.path.realpath(cwd, strict=True).split(os.sep)
    except (OSError, ValueError):
        return None
    holding = [one for one in projects if parts[: _depth(one)] == one.directory.rstrip(os.sep).split(os.sep)]
    return max(holding, key=_depth, default=None)


def _depth(project: Project) -> int:
    return len(project.directory.rstrip(os.sep).split(os.sep))

"""Makes the world of a case: a store of its own, a project, a folder outside of everything."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any

import msgspec

from hcpx.adapters.assembly import sandbox_facts
from hcpx.faces.library import Hcp
from hcpx.hub.connections import Connections
from hcpx.packs.install import Added, Installer
from hcpx.runtime import Runtime
from hcpx.runtime.books import Books
from hcpx.runtime.clock import SystemClock
from hcpx.runtime.owner import Owner
from hcpx.runtime.parts import Parts
from hcpx.settings import read_settings
from hcpx.store.create import create
from hcpx.store.database import Database
from hcpx.store.errors import Exists, Refused
from hcpx.store.session_rows import NewSession, SessionRows
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import Denial

from .corpus import BadCorpus, Case, Chapter, Corpus, mapping
from .recording import RecordingAdapter

_HOUR = 3600.0
_NOBODY = "hcps_nobody"


class _Earlier(SystemClock):
    """A clock two hours back: what it lets live for an hour has expired."""

    def now(self) -> float:
        return super().now() - 2 * _HOUR


def installed(corpus: Corpus, chapter: Chapter, folder: str) -> str:
    """Make a store with the chapter's packs installed and return its folder: each case gets a copy of it."""
    home = os.path.join(folder, "home")
    tenant, principal = chapter.world.get("tenant", "acme"), chapter.world.get("principal", "user:ada")
    create(home, tenant, principal, SystemClock())
    parts = _parts(home)
    try:
        for pack_id, manifest in chapter.packs.items():
            _install(parts, corpus, os.path.join(folder, "packs", pack_id), tenant, dict(manifest))
    finally:
        parts.close()
    return home


def _install(parts: Parts, corpus: Corpus, place: str, tenant: str, manifest: dict[str, Any]) -> None:
    unlinted = manifest.pop("unlinted", False) is True
    os.makedirs(place)
    shutil.copytree(corpus.programs, os.path.join(place, "bin"))
    for name in os.listdir(corpus.programs):
        os.chmod(os.path.join(place, "bin", name), 0o755)  # noqa: S103 -- a program
    with open(os.path.join(place, "pack.yaml"), "w", encoding="utf-8") as file:
        json.dump(manifest, file)
    installer = Installer(parts.shelf, parts.pack_rows, parts.clock, parts.catalog.settled)
    added = installer.add(tenant, place, judged=not unlinted)
    if not isinstance(added, Added):
        raise BadCorpus(f"pack {manifest.get('id')}: {added.denial.error}: {[str(one) for one in added.findings]}")


def isolates(home: str) -> bool:
    """Tell whether the programs of this store run isolated on this machine."""
    parts = _parts(home)
    try:
        mode = parts.sandbox_mode
        facts = sandbox_facts(mode, parts.state)
    finally:
        parts.close()
    return mode == "sandbox" and all(fact.ok for fact in facts if fact.name == "sandbox")


def _parts(home: str) -> Parts:
    return Parts(msgspec.structs.replace(read_settings(), home=home, session=None), Database.open(home))


class World:
    """The world of one case, open; `close` it."""

    def __init__(self, case: Case, home: str, folder: str) -> None:
        self.case = case
        self.tenant: str = case.world.get("tenant", "acme")
        self.home = os.path.join(folder, "home")
        shutil.copytree(home, self.home, symlinks=True)
        self.project = os.path.join(folder, "project")
        self.outside = os.path.join(folder, "outside")
        for place in (self.project, self.outside):
            os.mkdir(place)
        for path in (os.path.join(self.project, "marker"), os.path.join(self.outside, "kept")):
            with open(path, "w", encoding="utf-8"):
                pass
        self.untouched = self.outside_now()
        self.parts = _parts(self.home)
        self.owner = Owner(self.parts)
        self.books = Books(self.parts)
        self.wraps = self.parts.adapters["wrap"] = RecordingAdapter(self.parts.adapters["wrap"])
        self.token = self._made()
        self.hcp = Hcp(Runtime(self.parts), self.token)

    def _made(self) -> str:
        world = self.case.world
        if world.get("project"):
            self.owner.projects.add(self.tenant, world["project"]["id"], self.project)
        for grant in world.get("grants") or ():
            self._granted(world.get("principal", "user:ada"), grant)
        for approver in world.get("approvers") or ():
            self._granted(approver, {"capability": "verb.approve", "pack_id": "*", "verb_keys": ["*"]})
        for name in world.get("allow") or ():
            self.owner.allow(name)
        for pack_id, binding in mapping(world.get("bindings")).items():
            self._connected(pack_id, binding)
        return self._session()

    def _granted(self, principal: str, fields: Mapping[str, Any]) -> None:
        """Give a right; one that the store refuses counts as not given (Spec 08 point 28)."""
        try:
            self.owner.grants.add(self.tenant, principal, _grant(fields))
        except (Refused, Exists, msgspec.ValidationError):
            return

    def _connected(self, pack_id: str, binding: Mapping[str, Any]) -> None:
        principal = self.case.world.get("principal", "user:ada")
        kept = Connections(self.parts.vault).keep_secret(
            self.tenant, principal, pack_id, binding["family"], binding["secret"]
        )
        if isinstance(kept, Denial):
            raise BadCorpus(f"{self.case.file}: {self.case.name}: {kept.error}")

    def _session(self) -> str:
        world, kind = self.case.world, self.case.session
        if kind == "none":
            return _NOBODY
        expired = kind == "expired"
        clock = _Earlier() if expired else self.parts.clock
        scope = world.get("scope")
        packs = {row.pack_id: row.digest for row in self.parts.pack_rows.list(self.tenant)}
        token, session = SessionRows(self.parts.database, clock).new(
            NewSession(
                tenant=self.tenant,
                principal=world.get("principal", "user:ada"),
                actor=world.get("actor"),
                project=world["project"]["id"] if world.get("project") else None,
                scope=None if scope is None else tuple(_grant(fields) for fields in scope),
                expires_at=clock.now() + _HOUR if expired else None,
                activations={pack_id: packs[pack_id] for pack_id in world.get("activated") or ()},
            )
        )
        if kind == "revoked":
            self.owner.sessions.revoke(session.id)
        if kind == "disabled":
            self.owner.principals.disable(self.tenant, session.principal)
        return token

    def decide(self, approval_id: str, approve: Mapping[str, Any]) -> bool:
        """Decide on a request as the case says; tell whether that was taken."""
        token, _ = self.owner.sessions.new(NewSession(self.tenant, approve["as"], approve.get("actor")))
        session = Runtime(self.parts).session(token)
        return not isinstance(self.books.decide(session, approval_id, "approve"), Denial)

    def outside_now(self) -> dict[str, bytes]:
        """Return every file of the folder outside, by name, with its content."""
        found: dict[str, bytes] = {}
        for place, _, names in os.walk(self.outside):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    found[os.path.relpath(os.path.join(place, name), self.outside)] = file.read()
        return found

    def close(self) -> None:
        """Close the store."""
        self.parts.close()


def _grant(fields: Mapping[str, Any]) -> Grant:
    schema = fields.get("args_schema")
    body = {**fields, "args_schema": None if schema is None else json.dumps(schema)}
    return msgspec.convert(body, Grant, strict=True)

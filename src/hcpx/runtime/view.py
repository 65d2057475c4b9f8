"""What a session may see of the books: its own principal's part, and what its rights add (Spec 05 section 4).

The store's owner, without a token, sees the whole store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from hcpx.audit.verify import Verdict, verify
from hcpx.audit.views import AuditViews, Entry, Filter
from hcpx.hub.connections import Connection
from hcpx.packs.bootstrap.handlers import PackTitle
from hcpx.store.brain import Kept
from hcpx.store.errors import NotFound
from hcpx.store.grant_rows import GrantRow
from hcpx.store.principals import PrincipalRow
from hcpx.store.session_rows import SessionRow
from hcpx.vocabulary.approval import Approval
from hcpx.vocabulary.capability import ANY
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.policy import PolicyRow, tightened
from hcpx.vocabulary.principal import Project, Session

from .books import Books, may_approve
from .desk import RuntimeDesk, installed
from .owner import Owner
from .rights import holds

if TYPE_CHECKING:
    from .parts import Parts

__all__ = ["Entry", "Filter", "Kept", "View"]

_READ = "audit.read"


class PackLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One installed pack; of one that is not activated, a session knows id and title only."""

    id: str
    title: str
    activated: bool
    version: str = ""
    digest: str = ""
    linked: bool = False


def _line(title: PackTitle, pack: Pack | None) -> PackLine:
    if pack is None:
        return PackLine(title.id, title.title, activated=False)
    return PackLine(pack.id, pack.title, activated=True, version=pack.version, digest=pack.digest, linked=pack.linked)


class View:
    """Reads for one live session; nothing here creates or changes anything.

    What a session may not see is `NotFound`, worded like what is not there.
    """

    def __init__(self, parts: Parts, session: Session) -> None:
        self._parts = parts
        self._owner = Owner(parts)
        self._books = Books(parts)
        self.session = session
        self.is_owner = session.owner

    # --- packs ----------------------------------------------------------------------------------------------

    def packs(self) -> Sequence[PackLine]:
        """Return the installed packs; those that are not active on a session by id and title only."""
        desk = RuntimeDesk(self._parts)
        active = {pack.id: pack for pack in desk.active(self.session)}
        if not self.is_owner:
            return [_line(title, active.get(title.id)) for title in desk.installed(self.session.tenant)]
        return [
            PackLine(row.pack_id, row.title, row.pack_id in active, row.version, row.digest, row.linked)
            for row in self._parts.catalog.list(self.session.tenant)
        ]

    def pack(self, pack_id: str) -> Pack | Denial:
        """Return an installed pack to the owner, to another session one that is active on it."""
        if self.is_owner:
            return installed(self._parts, self.session.tenant, pack_id)
        active = {pack.id: pack for pack in RuntimeDesk(self._parts).active(self.session)}
        found = active.get(pack_id)
        return found if found is not None else self._not_active(pack_id)

    def _not_active(self, pack_id: str) -> Denial:
        denial = self._parts.gate.outlook(self.session, pack_id, "")
        return denial if denial is not None else deny("unknown_pack", pack_id=pack_id)

    def row(self, pack: Pack, verb_key: str) -> PolicyRow:
        """Return the effective row of a command."""
        overlay = self._parts.catalog.overlay(self.session.tenant, pack.id, verb_key)
        return tightened(pack.policy[verb_key], overlay)

    # --- people ---------------------------------------------------------------------------------------------

    def sessions(self) -> Sequence[SessionRow]:
        """Return the tenant's sessions, or this one alone."""
        if self.is_owner:
            return self._owner.sessions.list(self.session.tenant)
        return [self._owner.sessions.show(self.session.id)]

    def session_row(self, session_id: str | None) -> SessionRow:
        """Return one session, by default this one."""
        if session_id is not None and session_id != self.session.id and not self.is_owner:
            raise NotFound(f"no session {session_id}; see: hcpx session list")
        return self._owner.sessions.show(session_id if session_id is not None else self.session.id)

    def principals(self) -> Sequence[PrincipalRow]:
        """Return the tenant's principals and actors, or those that this session stands for."""
        rows = self._owner.principals.list(self.session.tenant)
        mine = (self.session.principal, self.session.actor)
        return [row for row in rows if self.is_owner or row.id in mine]

    def grants(self, principal: str | None) -> Sequence[GrantRow] | Denial:
        """Return the grants of a principal; without a name the tenant's, or this session's principal's."""
        if not self.is_owner and principal not in (None, self.session.principal):
            return deny("owner_required")
        whose = principal if self.is_owner else self.session.principal
        return self._owner.grants.list(self.session.tenant, whose)

    def projects(self) -> Sequence[Project]:
        """Return the tenant's projects, or the one that this session has."""
        if self.is_owner:
            return self._owner.projects.list(self.session.tenant)
        return [] if self.session.project is None else [self.session.project]

    def bindings(self) -> Sequence[Connection]:
        """Return what is connected; nothing is decrypted."""
        found = self._owner.bindings.list(self.session.tenant)
        return [one for one in found if self.is_owner or one.principal == self.session.principal]

    # --- approvals ------------------------------------------------------------------------------------------

    def approvals(self, *, waiting: bool) -> Sequence[Approval]:
        """Return requests: those that wait, or the newest of all."""
        found = self._books.approvals(self.session.tenant, waiting=waiting)
        return [one for one in found if self._sees_approval(one)]

    def approval(self, approval_id: str) -> Approval:
        """Return one request; raises `NotFound`."""
        found = self._books.approval(approval_id)
        if not self._sees_approval(found):
            raise NotFound(f"no approval {approval_id}; see: hcpx approvals list")
        return found

    def _sees_approval(self, approval: Approval) -> bool:
        ask = approval.ask
        return self.is_owner or (
            ask.tenant == self.session.tenant
            and (
                self.session.principal == ask.principal
                or may_approve(self._parts, self.session, approval)
                or self._reads(ask.pack_id, ask.verb_key)
            )
        )

    # --- audit ----------------------------------------------------------------------------------------------

    @property
    def _audit(self) -> AuditViews:
        return self._books.audit

    def calls(self, wanted: Filter) -> Sequence[Entry]:
        """Return the newest calls that fit: of every chain to the owner, else of this tenant's."""
        if self.is_owner:
            return self._audit.list(self._parts.chains.tenants(), wanted)
        return self._audit.list([self.session.tenant], wanted, self._sees_call)

    def call(self, audit_id: str) -> Entry:
        """Return one call with its records; raises `NotFound`."""
        found = self._audit.show(audit_id)
        theirs = found is not None and found["tenant"] == self.session.tenant and self._sees_call(found)
        if found is None or not (self.is_owner or theirs):
            raise NotFound(f"no call {audit_id}; see: hcpx audit list")
        return found

    def verdicts(self) -> Sequence[Verdict] | Denial:
        """Check every chain of the store, or this tenant's where the session may read all of it."""
        if self.is_owner:
            return self._books.verify()
        return self._all_of_the_tenant() or [verify(self._parts.chains, self.session.tenant)]

    def exported(self, tenant: str | None, since: str | None, until: str | None) -> Iterator[bytes] | Denial:
        """Return a chain's lines as they are stored, oldest first; only the owner names another tenant."""
        if not self.is_owner and tenant not in (None, self.session.tenant):
            return deny("owner_required")
        denial = None if self.is_owner else self._all_of_the_tenant()
        if denial is not None:
            return denial
        return self._audit.export(tenant if tenant is not None else self.session.tenant, since, until)

    def _all_of_the_tenant(self) -> Denial | None:
        if self._reads(ANY, ANY):
            return None
        whose = self.session.principal
        return deny("denied", capability=_READ, pack_id=ANY, verb_key=ANY, principal=whose)

    def _sees_call(self, entry: Entry) -> bool:
        if entry.get("principal") == self.session.principal:
            return True
        pack_id, verb_key = entry.get("pack_id"), entry.get("verb_key")
        return self._reads(pack_id if isinstance(pack_id, str) else ANY, verb_key if isinstance(verb_key, str) else ANY)

    def _reads(self, pack_id: str, verb_key: str) -> bool:
        return holds(self._parts, self.session, _READ, pack_id, verb_key)

    # --- brain ----------------------------------------------------------------------------------------------

    def kept(self, project: str | None, limit: int) -> Sequence[Kept]:
        """Return the newest results of a project without their content; of every one where none is named."""
        known = [one.id for one in self.projects()]
        if project is not None and project not in known and not self.is_owner:
            raise NotFound(f"no project {project}; see: hcpx project list")
        wanted = known if project is None else [project]
        found = [kept for one in wanted for kept in self._books.brain.list(self.session.tenant, one, limit)]
        return sorted(found, key=lambda kept: kept.at, reverse=True)[:limit]

    def kept_result(self, audit_id: str) -> Kept:
        """Return one kept result; raises `NotFound`."""
        found = self._books.brain.show(self.session.tenant, audit_id)
        if found.project not in [one.id for one in self.projects()] and not self.is_owner:
            raise NotFound(f"nothing was kept of call {audit_id}; see: hcpx brain list")
        return found

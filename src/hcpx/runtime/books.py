"""What can be read of a store: the audit, approvals and the decisions on them, the Brain, doctor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hcpx.audit.verify import Verdict, verify_all
from hcpx.audit.views import AuditViews
from hcpx.packs.bootstrap.handlers import Check
from hcpx.store.brain import BrainRows
from hcpx.store.errors import NotFound
from hcpx.vocabulary.approval import Approval, Decision, own_call
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.principal import Session

from .rights import holds

if TYPE_CHECKING:
    from .parts import Parts


class Books:
    """Reads, and takes people's decisions on approvals."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def audit(self) -> AuditViews:
        """The records of calls, those that waited to be written included."""
        self._parts.journal.flush()
        return AuditViews(self._parts.chains, self._parts.intents, self._parts.processes)

    def verify(self) -> Sequence[Verdict]:
        """Check every chain of the store in one pass each."""
        self._parts.journal.flush()
        return verify_all(self._parts.chains)

    @property
    def brain(self) -> BrainRows:
        """Results kept under projects."""
        return BrainRows(self._parts.database, self._parts.clock)

    def approvals(self, tenant: str, *, waiting: bool) -> Sequence[Approval]:
        """Return the requests of a tenant: those that wait, or the newest of all."""
        return self._parts.approvals.open(tenant) if waiting else self._parts.approvals.list(tenant)

    def approval(self, approval_id: str) -> Approval:
        """Return one request; raises `NotFound`."""
        return self._parts.approvals.show(approval_id)

    def decide(
        self, session: Session | None, approval_id: str, verdict: Literal["approve", "deny"], reason: str = ""
    ) -> Approval | Denial:
        """Take a session's decision, or say why it does not count (Spec 01 section 3, Approvals).

        Raises `NotFound` for a request that is not known in the session's tenant.
        """
        if session is None:
            return deny("unauthenticated")
        approval = self._parts.approvals.show(approval_id)
        if approval.ask.tenant != session.tenant:
            raise NotFound(f"no approval {approval_id}; see: hcpx approvals list")  # as if it were not there
        if own_call(approval, session):
            return deny(
                "forbidden",
                pack_id=approval.ask.pack_id,
                verb_key=approval.ask.verb_key,
                hint="nobody decides on a call of their own: ask another principal, in a session without an actor",
            )
        if not may_approve(self._parts, session, approval):
            return deny(
                "denied",
                capability="verb.approve",
                pack_id=approval.ask.pack_id,
                verb_key=approval.ask.verb_key,
                principal=session.principal,
            )
        decision = Decision(session.principal, verdict, self._parts.clock.now(), reason)
        decided = self._parts.approvals.decide(approval_id, decision)
        return deny("approval_denied", reason=decided) if isinstance(decided, str) else decided

    def doctor(self) -> Sequence[Check]:
        """Look at store, audit chain, sandbox, vault, search path and clock."""
        from .doctor import checks

        return checks(self._parts)


def may_approve(parts: Parts, session: Session, approval: Approval) -> bool:
    """Tell whether the session holds `verb.approve` for what is asked."""
    ask = approval.ask
    return holds(parts, session, "verb.approve", ask.pack_id, ask.verb_key, ask.args)

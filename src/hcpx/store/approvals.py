"""Requests for another person's word, and the decisions on them (Spec 01 section 3, approvals)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from hcpx.ports import Clock, StoreUnavailable
from hcpx.vocabulary.approval import Approval, Ask, Decision
from hcpx.vocabulary.json_text import encode

from . import queries
from .database import Database, Row
from .errors import NotFound

EXPIRY_S: Final = 600.0
"""How long a request waits, counted from itself."""

_ask = msgspec.json.Decoder(Ask)


class ApprovalRows:
    """The ports `Approvals` and `ApprovalUses` over the store, and what people who decide need.

    Whether somebody has the right to decide is for the caller to say; that nobody decides on a call of their
    own, or twice, is held here too.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def waiting(self, ask: Ask) -> Approval | None:
        """Return the request of this digest that is pending or denied and has not expired, or None."""
        now = self._clock.now()
        values = (ask.tenant, ask.digest, now, now + EXPIRY_S)
        row = self._database.one(queries.APPROVAL_WAITING, values)
        return None if row is None else self._read(row)

    def request(self, ask: Ask) -> Approval:
        """Return the request of this digest that waits (or was denied a moment ago), else a new one."""
        held = self.waiting(ask)
        if held is not None:
            return held
        now = self._clock.now()
        with self._database.writing(durable=True):
            held = self.waiting(ask)
            if held is not None:
                return held
            approval = Approval(self._clock.new_id("p"), ask, now, now + EXPIRY_S, "pending")
            text = encode(ask).decode()
            values = (approval.id, ask.tenant, ask.digest, text, now, approval.expires_at)
            self._database.run(queries.APPROVAL_ADD, values)
        return approval

    def decide(self, approval_id: str, decision: Decision) -> Approval | str:
        """Add a decision and return the request with it, or say in words why the decision does not count.

        One that denies ends the request. Of two at once each sees the other. Raises `NotFound`.
        """
        with self._database.writing(durable=True):
            approval = self.show(approval_id)
            refused = _why_not(approval, decision)
            if refused is not None:
                return refused
            values = (approval_id, decision.principal, decision.verdict, decision.at, decision.reason)
            self._database.run(queries.DECISION_ADD, values)
            if decision.verdict == "deny":
                self._database.run(queries.APPROVAL_DENY, (approval_id,))
            return self.show(approval_id)

    def revoke(self, approval_id: str) -> Approval:
        """Take a pending request out, whoever approved it already. Raises `NotFound`."""
        with self._database.writing(durable=True):
            self.show(approval_id)
            self._database.run(queries.APPROVAL_REVOKE, (approval_id,))
            return self.show(approval_id)

    def show(self, approval_id: str) -> Approval:
        """Return one request. Raises `NotFound`."""
        row = self._database.one(queries.APPROVAL, (approval_id,))
        if row is None:
            raise NotFound(f"no approval {approval_id}; see: hcpx approvals list")
        return self._read(row)

    def open(self, tenant: str) -> Sequence[Approval]:
        """Return the requests of a tenant that wait, oldest first."""
        now = self._clock.now()
        rows = self._database.all(queries.APPROVALS_OPEN, (tenant, now, now + EXPIRY_S))
        return [self._read(row) for row in rows]

    def list(self, tenant: str, limit: int = 100) -> Sequence[Approval]:
        """Return the newest requests of a tenant, whatever became of them."""
        return [self._read(row) for row in self._database.all(queries.APPROVALS, (tenant, limit))]

    def use(self, approval_ids: Sequence[str], audit_id: str, now: float) -> bool:
        """Use up all of them for this call, or none: each must be pending, in time and approved."""
        for approval_id in approval_ids:
            row = self._database.one(queries.APPROVAL, (approval_id,))
            if row is None or not _is_granted(self._read(row), now):
                return False
        return all(
            self._database.run(queries.APPROVAL_USE, (audit_id, approval_id)) == 1 for approval_id in approval_ids
        )

    def give_back(self, audit_id: str) -> None:
        """Make what this call used pending again."""
        self._database.run(queries.APPROVALS_GIVE_BACK, (audit_id,))

    def _read(self, row: Row) -> Approval:
        approval_id, ask, state, created_at, expires_at = row
        decisions = tuple(Decision(*one) for one in self._database.all(queries.DECISIONS, (approval_id,)))
        # A clock that is set back gives no approval more time than once over what it had.
        over = state in {"pending", "denied"} and not created_at - EXPIRY_S <= self._clock.now() < expires_at
        try:
            asked = _ask.decode(ask)
        except msgspec.DecodeError:
            raise StoreUnavailable(f"approval {approval_id} cannot be read") from None
        return Approval(approval_id, asked, created_at, expires_at, "expired" if over else state, decisions)


def _is_granted(approval: Approval, now: float) -> bool:
    said = [decision.verdict for decision in approval.decisions]
    return (
        approval.state == "pending"
        and now < approval.expires_at
        and "deny" not in said
        and said.count("approve") >= max(approval.ask.needed, 1)
    )


def _why_not(approval: Approval, decision: Decision) -> str | None:
    if approval.state != "pending":
        return f"approval {approval.id} is {approval.state}"
    if decision.principal in (approval.ask.principal, approval.ask.actor):
        return "nobody decides on a call of their own"
    if any(one.principal == decision.principal for one in approval.decisions):
        return f"{decision.principal} has decided on approval {approval.id} already"
    return None

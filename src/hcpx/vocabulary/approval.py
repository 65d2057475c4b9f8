"""Approvals: another person's word for exactly one call (Spec 01 section 3)."""

from __future__ import annotations

from typing import Literal

import msgspec

from .principal import Session


class Decision(msgspec.Struct, frozen=True):
    """What one principal decided, and when (Unix seconds)."""

    principal: str
    verdict: Literal["approve", "deny"]
    at: float
    reason: str = ""


class Ask(msgspec.Struct, frozen=True):
    """A request for approvals, as step 4 makes it.

    `digest` binds it to (tenant, principal, actor, project, pack digest, effective row, verb_key, args, argv,
    program digest). `shown` is what the approver sees, as a JSON value.
    """

    tenant: str
    principal: str
    actor: str | None
    pack_id: str
    verb_key: str
    digest: str
    needed: int
    shown: dict[str, object]
    args: dict[str, object] = {}


class Approval(msgspec.Struct, frozen=True):
    """A stored request with its decisions. Times are Unix seconds."""

    id: str
    ask: Ask
    created_at: float
    expires_at: float
    state: Literal["pending", "denied", "used", "expired", "revoked"]
    decisions: tuple[Decision, ...] = ()


def own_call(approval: Approval, session: Session) -> bool:
    """Tell whether a session would decide on a call of its own (Spec 01 section 3).

    A session with an actor decides on nothing: nobody can tell whose word it is.
    """
    stands_for = {session.principal, session.actor} - {None}
    return session.actor is not None or not stands_for.isdisjoint({approval.ask.principal, approval.ask.actor})

"""Approvals: another person's word for exactly one call (Spec 01 section 3)."""

from __future__ import annotations

from typing import Literal

import msgspec


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


class Approval(msgspec.Struct, frozen=True):
    """A stored request with its decisions. Times are Unix seconds."""

    id: str
    ask: Ask
    created_at: float
    expires_at: float
    state: Literal["pending", "denied", "used", "expired", "revoked"]
    decisions: tuple[Decision, ...] = ()

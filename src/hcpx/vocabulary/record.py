"""The audit record and its attribution tuple (Spec 06 section 2)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from .invocation import Contact

RecordKind = Literal["intent", "outcome", "entry"]
Decision = Literal["allowed", "denied", "mock", "replayed"]
Outcome = Literal["ok", "failed", "timeout", "cancelled", "unknown"]

SYSTEM: Final = "@system"
"""The tenant of the system's own chain, for calls without a live session; no tenant has such an id."""


class Attribution(msgspec.Struct, frozen=True):
    """Who called what, for whom, with which credential. `at` is RFC 3339 in UTC."""

    at: str
    tenant: str
    principal: str | None
    actor: str | None
    invoker: str
    session: str | None
    project: str | None
    pack_id: str | None
    pack_digest: str | None
    verb_key: str | None
    operation: str | None
    binding_family: str | None
    credential_id: str | None
    request_id: str | None
    envelope_digest: str | None


class AuditRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One link of a tenant's chain before it is chained.

    `kind` is `intent` (before the mint), `outcome` (closes an intent) or `entry` (a call that needed none).
    An intent and its outcome share `audit_id`. A denied record has no `outcome`.
    """

    audit_id: str
    kind: RecordKind
    attribution: Attribution
    decision: Decision | None = None
    outcome: Outcome | None = None
    code: str | None = None
    step: int = 7
    args: object = None
    args_digest: str | None = None
    argv_digest: str | None = None
    exit_code: int | None = None
    duration_ms: float | None = None
    approval_ids: tuple[str, ...] = ()
    output_sizes: dict[str, int] = {}
    output_digests: dict[str, str] = {}
    sandbox: str | None = None
    contacts: tuple[Contact, ...] = ()
    parent: str | None = None
    node: str | None = None

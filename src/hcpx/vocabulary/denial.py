"""The one catalogue of denials and failures (Spec 07), and the value that carries one."""

from __future__ import annotations

from typing import Final

import msgspec

from .text import headed, shown


class Entry(msgspec.Struct, frozen=True):
    """One row of Spec 07: a stable code, the steps it can end, its text, the CLI's exit status, a hint.

    `error` and `hint` are templates in the style of `str.format`; `exit` is None where the
    child's own status counts.
    """

    code: str
    steps: tuple[int, ...]
    error: str
    exit: int | None
    hint: str | None = None


_ENTRIES: Final = (
    Entry("invalid_envelope", (1,), "invalid envelope: {what}", 64),
    Entry("unknown_pack", (1,), "unknown pack {pack_id}", 69, "hcpx pack list"),
    Entry("pack_not_activated", (1,), "pack {pack_id} not activated", 69, "hcpx activate {pack_id}"),
    Entry("pack_changed", (1,), "pack {pack_id} changed since activation", 69, "hcpx activate {pack_id}"),
    Entry("no_policy", (1,), "no policy for {verb_key}", 69, "hcpx pack show {pack_id}"),
    Entry("unauthenticated", (2,), "unauthenticated", 77, "hcpx session new"),
    Entry("project_required", (2,), "{what} requires project_id", 77, "hcpx project add ID DIR"),
    Entry("denied", (3,), "denied: missing {capability} for {pack_id}.{verb_key}", 77,
          "hcpx grant {principal} {capability} --pack {pack_id} --verb {verb_key}"),
    Entry("forbidden", (3,), "denied: policy forbids {pack_id}.{verb_key}", 77, "hcpx policy show {pack_id}"),
    Entry("confirm_required", (4,), "confirm required", 75,
          'once it is agreed, send "confirm": true in args'),
    Entry("invalid_args", (4,), "invalid args: {pointer}: {why}", 64),
    Entry("approval_required", (4,), "approval required", 75,
          "somebody else decides: hcpx approvals approve {approval_id}"),
    Entry("approval_denied", (4,), "approval denied: {reason}", 77),
    Entry("idempotency_conflict", (4,), "denied: idempotency_key reused", 77,
          "use a new idempotency_key for a call that differs"),
    Entry("binding_missing", (5,), "binding {family} for {pack_id}: not connected", 78,
          "hcpx connect {pack_id}"),
    Entry("binding_stale", (5,), "binding {family} for {pack_id}: stale: {why}", 78,
          "hcpx connect {pack_id}"),
    Entry("binding_unavailable", (5,), "binding {family} for {pack_id}: unavailable: {why}", 78,
          "hcpx doctor"),
    Entry("binding_forbidden", (5,), "binding {family} for {pack_id}: forbidden: {why}", 78,
          "hcpx connect {pack_id}"),
    Entry("no_mock", (5,), "no mock for {pack_id}.{verb_key}", 78,
          "declare a mock fixture for the command in its pack.yaml"),
    Entry("audit_unavailable", (5,), "audit unavailable", 70, "hcpx doctor"),
    Entry("not_allowlisted", (6,), 'sandbox: bin "{bin}" not allowlisted', 127, "hcpx allow {bin}"),
    Entry("not_executable", (6,), 'sandbox: bin "{bin}" cannot be executed: {why}', 127),
    Entry("sandbox_unavailable", (6,), "sandbox: unavailable: {why}", 127, "hcpx doctor"),
    Entry("adapter_not_executable", (6,), "adapter {kind} is not executable", 70),
    Entry("busy", (6, 4), "busy: {limit}", 75, "try again when a running call has ended"),
    Entry("store_unavailable", (1,), "store unavailable: {why}", 70, "hcpx doctor"),
    Entry("usage", (), "{what}", 2, "hcpx --help"),
    Entry("lint_failed", (), "{what}", 65, "hcpx pack lint"),
    Entry("not_found", (), "{what}", 66),
    Entry("exists", (), "{what}", 73),
    Entry("owner_required", (), "only the store's owner may do this", 77,
          "run it without --session and with HCP_SESSION unset, as the user who owns the store"),
    Entry("timeout", (6,), "timeout after {seconds} s", 124),
    Entry("cancelled", (6,), "cancelled", 130),
    Entry("exit", (6,), "{text}", None),
    Entry("upstream", (6,), "{text}", 70),
    Entry("step_failed", (6,), "step {name}: {error}", 70),
    Entry("outcome_unknown", (4, 7), "outcome unknown", 70, "hcpx audit list"),
    Entry("internal", (1, 2, 3, 4, 5, 6, 7), "internal error {id}", 70, "hcpx doctor"),
)  # fmt: skip

CATALOGUE: Final = {entry.code: entry for entry in _ENTRIES}


class ApprovalTicket(msgspec.Struct, frozen=True):
    """What a caller learns of a waiting approval; `expires_at` is RFC 3339 in UTC."""

    id: str
    digest: str
    expires_at: str


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """The inner denial of a composite's failed step."""

    code: str
    step: int
    pack_id: str | None
    verb_key: str | None
    approval: ApprovalTicket | None = None


class Denial(msgspec.Struct, frozen=True):
    """A closed decision against a call: a value, never an exception (Spec 01 section 3).

    `error` is the exact text of Spec 07; `hint` is a `hcpx ...` line or a sentence.
    """

    code: str
    step: int
    error: str
    hint: str | None = None
    approval: ApprovalTicket | None = None
    cause: Cause | None = None
    warnings: tuple[str, ...] = ()


def deny(code: str, *, step: int | None = None, hint: str | None = None, **fields: str) -> Denial:
    """Make the denial `code` of the catalogue; `fields` fill its text, invisible characters escaped.

    `step` is needed only where the code can end several steps; `hint` replaces the catalogue's own.
    """
    entry = CATALOGUE[code]
    visible = {name: shown(value) for name, value in fields.items()}
    return Denial(
        code=code,
        step=step if step is not None else (entry.steps[0] if entry.steps else 0),
        error=headed(entry.error.format_map(visible)),
        hint=hint if hint is not None else _hint(entry.hint, fields),
    )


def _hint(template: str | None, fields: dict[str, str]) -> str | None:
    if template is None:
        return None
    try:
        return template.format_map({name: shell_quoted(value) for name, value in fields.items()})
    except KeyError:
        return None


_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def shell_quoted(value: str) -> str:
    """Quote a value for a shell (Spec 08 point 25); control characters are shown escaped."""
    visible = shown(value)
    if visible and _PLAIN.issuperset(visible):
        return visible
    return "'" + visible.replace("'", "'\"'\"'") + "'"


def hint_for(actor: str | None, hint: str | None) -> str | None:
    """Return a hint as a session gets it: where that has an actor, a command asks the owner (Spec 07)."""
    if actor is None or hint is None or not hint.startswith("hcpx "):
        return hint
    return f"ask the store's owner to run: {hint}"


def denial_for(actor: str | None, denial: Denial) -> Denial:
    """Return a denial as a session gets it: with its hint worded for the session's actor, if any."""
    hint = hint_for(actor, denial.hint)
    return denial if hint == denial.hint else msgspec.structs.replace(denial, hint=hint)

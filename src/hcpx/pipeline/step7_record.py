"""Step 7, record: the structured Result and the audit record, however the call ended."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable

import msgspec
from msgspec import UNSET

from hcpx.ports import AuditUnavailable, Ports, StoreUnavailable
from hcpx.vocabulary.denial import Denial, deny, hint_for
from hcpx.vocabulary.envelope import BadEnvelope
from hcpx.vocabulary.invocation import Ran
from hcpx.vocabulary.json_text import parse_output
from hcpx.vocabulary.record import AuditRecord
from hcpx.vocabulary.result import Result

from .recording import ended_record, refused_record, replayed_record
from .stages import Confirmed, Outcome, Replayed
from .trail import Trail

NOT_RECORDED = "the audit record of this call could not be written"


def denied(ports: Ports, trail: Trail, denial: Denial, bad: BadEnvelope | None = None) -> Result:
    """End a call that was denied: nothing was started, so approvals and key are given back."""
    spent = _spent(ports, trail)
    named = trail.envelope if trail.envelope is not None else bad
    lost = _settle(ports, trail, lambda: refused_record(ports, trail, denial, bad, spent), started=False)
    warnings = denial.warnings + lost
    actor = trail.session.actor if trail.session is not None else None
    hint = hint_for(actor, denial.hint)
    return Result(
        ok=False,
        pack_id=named.pack_id if named is not None else None,
        verb_key=named.verb_key if named is not None else None,
        error=denial.error,
        exit_code=127 if denial.code in ("not_allowlisted", "not_executable", "sandbox_unavailable") else UNSET,
        code=denial.code,
        step=denial.step,
        cause=denial.cause if denial.cause is not None else UNSET,
        hint=hint if hint is not None else UNSET,
        approval=denial.approval if denial.approval is not None else UNSET,
        warnings=warnings or UNSET,
        audit_id=trail.audit_id,
        duration_ms=spent,
        request_id=named.request_id if named is not None and named.request_id is not None else UNSET,
    )


def unread(ports: Ports, trail: Trail, bad: BadEnvelope) -> Result:
    """End a call whose payload is no envelope; what it named is echoed and audited."""
    return denied(ports, trail, bad.denial, bad)


def broken(ports: Ports, trail: Trail, bug: BaseException) -> Result:
    """End a call that met a bug: the trace goes to the log under an id, never to the caller."""
    trouble_id = ports.clock.new_id("e")
    ports.log.trouble(trouble_id, bug)
    denial = deny("internal", step=_reached(trail), id=trouble_id)
    if trail.bound is None or trail.confirmed is None:
        return denied(ports, trail, denial)
    ran = Ran(code="internal", error=denial.error)
    return _answer(ports, trail, trail.confirmed, ran, denial, unknown=True)


def replayed(ports: Ports, trail: Trail, again: Replayed) -> Result:
    """Answer with what the first call under this key came to (Spec 06 section 3)."""
    first = _kept(again.replay.result)
    spent = _spent(ports, trail)
    lost = _settle(ports, trail, lambda: replayed_record(ports, trail, first, spent), started=False)
    old = first.warnings if first.warnings is not UNSET else ()
    request_id = again.resolved.envelope.request_id
    return msgspec.structs.replace(
        first,
        warnings=(*old, *again.warnings, f"replayed: this is the recorded result of {first.audit_id}", *lost),
        audit_id=trail.audit_id,
        duration_ms=spent,
        request_id=request_id if request_id is not None else UNSET,
    )


def _kept(text: bytes) -> Result:
    """Read a recorded result: what the program printed is read as it was then, whatever its size and depth."""
    fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    value = fields.pop("result", None)
    first = msgspec.json.decode(msgspec.json.encode(fields), type=Result)
    return first if value is None else msgspec.structs.replace(first, result=parse_output(bytes(value).decode()))


def ended(ports: Ports, trail: Trail, outcome: Outcome) -> Result:
    """End a call whose Adapter ran, well or not."""
    return _answer(ports, trail, outcome.bound.intended.confirmed, outcome.ran, None, unknown=False)


def _answer(
    ports: Ports, trail: Trail, confirmed: Confirmed, ran: Ran, denial: Denial | None, *, unknown: bool
) -> Result:
    spent = _spent(ports, trail)
    result = _result(trail, confirmed, ran, denial, spent)
    result = _warned(result, _land(ports, trail, confirmed, result))
    lost = _settle(
        ports,
        trail,
        lambda: ended_record(ports, trail, confirmed, ran, spent, unknown=unknown),
        started=ran.started,
        result=None if unknown else result,
    )
    return _warned(result, lost)


def _result(trail: Trail, confirmed: Confirmed, ran: Ran, denial: Denial | None, spent: float) -> Result:
    envelope, session = confirmed.resolved.envelope, confirmed.resolved.target.session
    failed = ran.code is not None
    hint = hint_for(session.actor, ran.hint)
    return Result(
        ok=not failed,
        pack_id=envelope.pack_id,
        verb_key=envelope.verb_key,
        result=ran.value,
        error=ran.error if ran.error is not None else UNSET,
        stdout=ran.stdout if ran.stdout is not None else UNSET,
        stderr=ran.stderr if ran.stderr is not None else UNSET,
        stdout_base64=b2a_base64(ran.stdout_bytes, newline=False).decode() if ran.stdout_bytes is not None else UNSET,
        stderr_base64=b2a_base64(ran.stderr_bytes, newline=False).decode() if ran.stderr_bytes is not None else UNSET,
        exit_code=ran.exit_code if ran.exit_code is not None else UNSET,
        code=ran.code if ran.code is not None else UNSET,
        step=(denial.step if denial is not None else 6) if failed else UNSET,
        cause=ran.cause if ran.cause is not None else UNSET,
        hint=hint if hint is not None else UNSET,
        approval=ran.approval if ran.approval is not None else UNSET,
        truncated=ran.truncated or UNSET,
        enforced=ran.enforced if ran.enforced is not None else UNSET,
        warnings=confirmed.warnings + ran.warnings or UNSET,
        audit_id=trail.audit_id,
        duration_ms=spent,
        request_id=envelope.request_id if envelope.request_id is not None else UNSET,
    )


def _land(ports: Ports, trail: Trail, confirmed: Confirmed, result: Result) -> tuple[str, ...]:
    """Keep a successful result under the project where the row lands in the brain (Spec 06 section 5)."""
    target = confirmed.resolved.target
    if target.row.land != "brain" or not result.ok or confirmed.resolved.envelope.mock:
        return ()
    try:
        why = ports.brain.keep(
            target.session, trail.audit_id, target.pack.id, target.command.verb_key, result.to_json()
        )
    except StoreUnavailable as trouble:
        why = str(trouble)
    return () if why is None else (f"the result is not kept under the project: {why}",)


def _settle(
    ports: Ports,
    trail: Trail,
    record: Callable[[], AuditRecord],
    *,
    started: bool,
    result: Result | None = None,
) -> tuple[str, ...]:
    """Make and write the record; where only that fails, whatever the reason, the answer stands and says so."""
    key = trail.confirmed.key if trail.durable and trail.confirmed is not None else None
    try:
        kept = None if key is None or result is None else result.to_json()
        ports.journal.settle(record(), started=started, use=key, result=kept)
    except (AuditUnavailable, StoreUnavailable):
        return (NOT_RECORDED,)
    except Exception as bug:  # noqa: BLE001 -- behind the guard there is no other: the caller gets the answer
        ports.log.trouble(ports.clock.new_id("e"), bug)
        return (NOT_RECORDED,)
    return ()


def _warned(result: Result, more: tuple[str, ...]) -> Result:
    if not more:
        return result
    old = result.warnings if result.warnings is not UNSET else ()
    return msgspec.structs.replace(result, warnings=old + more)


def _reached(trail: Trail) -> int:
    """Return the step that the call was in: the one behind the last evidence; a session is asked for first."""
    if trail.session is None:
        return 2
    evidence = (trail.resolved, trail.authenticated, trail.permitted, trail.confirmed, trail.bound)
    return next((step for step, found in enumerate(evidence, 1) if found is None), 6)


def _spent(ports: Ports, trail: Trail) -> float:
    return round((ports.clock.elapsed() - trail.began) * 1000, 3)

"""Audit records made from a call's trail (Spec 06 section 2)."""

from __future__ import annotations

import msgspec

from hcpx.ports import Ports
from hcpx.vocabulary.binding import PUBLIC
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.envelope import BadEnvelope
from hcpx.vocabulary.invocation import Ran
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.record import AuditRecord, Decision, Outcome
from hcpx.vocabulary.result import Result

from .stages import Confirmed
from .trail import Trail, attribution


def intent_record(ports: Ports, trail: Trail, confirmed: Confirmed) -> AuditRecord:
    """Record what is about to happen: digests of the args only, since what is secret is not known yet."""
    envelope = confirmed.resolved.envelope
    return AuditRecord(
        audit_id=trail.audit_id,
        kind="intent",
        attribution=attribution(ports, trail),
        args_digest=ports.seal.digest(encode(envelope.args)),
        argv_digest=_argv_digest(ports, confirmed),
        approval_ids=confirmed.approval_ids,
        parent=trail.call.parent,
    )


def refused_record(ports: Ports, trail: Trail, denial: Denial, bad: BadEnvelope | None, spent: float) -> AuditRecord:
    """Record an end before anything was started."""
    record = _unstarted(ports, trail, bad, spent)
    return msgspec.structs.replace(record, decision="denied", code=denial.code, step=denial.step)


def replayed_record(ports: Ports, trail: Trail, first: Result, spent: float) -> AuditRecord:
    """Record that the result of an earlier call was given again."""
    record = _unstarted(ports, trail, None, spent)
    code = None if first.code is msgspec.UNSET else first.code
    return msgspec.structs.replace(record, decision="replayed", outcome="ok" if first.ok else "failed", code=code)


def _unstarted(ports: Ports, trail: Trail, bad: BadEnvelope | None, spent: float) -> AuditRecord:
    envelope = trail.envelope
    return AuditRecord(
        audit_id=trail.audit_id,
        kind="outcome" if trail.durable else "entry",
        attribution=attribution(ports, trail, bad),
        args_digest=ports.seal.digest(encode(envelope.args)) if envelope is not None else None,
        duration_ms=spent,
        parent=trail.call.parent,
    )


def ended_record(
    ports: Ports, trail: Trail, confirmed: Confirmed, ran: Ran, spent: float, *, unknown: bool
) -> AuditRecord:
    """Record how a run ended, with the args redacted: what matches a secret becomes a keyed digest."""
    envelope, compiled = confirmed.resolved.envelope, confirmed.resolved.compiled
    return AuditRecord(
        audit_id=trail.audit_id,
        kind="outcome" if trail.durable else "entry",
        attribution=attribution(ports, trail),
        decision=_decision(trail),
        outcome="unknown" if unknown else _outcome(ran),
        code=ran.code,
        step=6 if ran.code is not None else 7,
        args=_hidden(ports, trail, compiled.secret, envelope.args),
        argv_digest=_argv_digest(ports, confirmed),
        exit_code=ran.exit_code,
        duration_ms=spent,
        approval_ids=confirmed.approval_ids,
        output_sizes=ran.output_sizes,
        output_digests=_output_digests(ports, ran),
        contacts=ran.contacts,
        sandbox=ran.enforced.sandbox if ran.enforced is not None else None,
        parent=trail.call.parent,
    )


def _argv_digest(ports: Ports, confirmed: Confirmed) -> str | None:
    """Digest what the program gets; a kind that starts none has no argv."""
    if confirmed.resolved.target.pack.wrap is None:
        return None
    return ports.seal.digest(encode(confirmed.argv))


def _decision(trail: Trail) -> Decision:
    return "mock" if trail.envelope is not None and trail.envelope.mock else "allowed"


def _outcome(ran: Ran) -> Outcome:
    if ran.code is None:
        return "ok"
    if ran.code == "timeout":
        return "timeout"
    return "cancelled" if ran.code == "cancelled" else "failed"


def _hidden(ports: Ports, trail: Trail, secret: frozenset[str], args: dict[str, object]) -> object:
    binding = PUBLIC if trail.bound is None else trail.bound.binding
    if not secret and not binding.secrets:
        return args
    masked = {name: ports.seal.digest(encode(value)) if name in secret else value for name, value in args.items()}
    redactor = ports.redaction.of(binding)
    return redactor.value(masked, lambda hidden: ports.seal.digest(hidden.encode("utf-8", "surrogatepass")))


def _output_digests(ports: Ports, ran: Ran) -> dict[str, str]:
    streams = {"stdout": ran.stdout, "stderr": ran.stderr}
    return {name: ports.seal.digest(text.encode()) for name, text in streams.items() if text}

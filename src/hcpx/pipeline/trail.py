"""How far a call came: what step 7 needs to attribute its end, whichever step that was."""

from __future__ import annotations

from functools import lru_cache
from time import gmtime

from hcpx.ports import Call, Ports
from hcpx.vocabulary.envelope import BadEnvelope, Envelope
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.principal import Session
from hcpx.vocabulary.record import SYSTEM, Attribution

from .stages import Authenticated, Bound, Confirmed, Intended, Permitted, Resolved


class Trail:
    """The evidence of one call, as the walk reaches it; owns the open directory until the call has ended."""

    __slots__ = (
        "audit_id",
        "authenticated",
        "began",
        "bound",
        "call",
        "confirmed",
        "envelope",
        "intended",
        "permitted",
        "resolved",
        "session",
        "started_at",
    )

    def __init__(self, ports: Ports, call: Call) -> None:
        self.call = call
        self.began = ports.clock.elapsed()
        self.started_at = ports.clock.now()
        self.audit_id = ports.clock.new_id("a")
        self.session: Session | None = None
        self.envelope: Envelope | None = None
        self.resolved: Resolved | None = None
        self.authenticated: Authenticated | None = None
        self.permitted: Permitted | None = None
        self.confirmed: Confirmed | None = None
        self.intended: Intended | None = None
        self.bound: Bound | None = None

    @property
    def durable(self) -> bool:
        """Whether an intent of this call is on disk, so that an outcome is owed."""
        return self.intended is not None and self.intended.durable

    def close(self) -> None:
        """Close the working directory."""
        if self.authenticated is not None and self.authenticated.directory is not None:
            self.authenticated.directory.close()


def invoker(call: Call, session: Session | None) -> str:
    """Name who fired the envelope: recorded, never consulted by a gate (Spec 01 section 1)."""
    return "agent" if session is not None and session.actor is not None else call.face


def attribution(ports: Ports, trail: Trail, bad: BadEnvelope | None = None) -> Attribution:
    """Make the attribution tuple from what is known so far (Spec 06 section 2); `bad` is what was no envelope."""
    session, envelope, resolved, bound = trail.session, trail.envelope, trail.resolved, trail.bound
    named = envelope if envelope is not None else bad
    return Attribution(
        at=timestamp(trail.started_at),
        tenant=session.tenant if session is not None else SYSTEM,
        principal=session.principal if session is not None else None,
        actor=session.actor if session is not None else None,
        invoker=invoker(trail.call, session),
        session=session.id if session is not None else None,
        project=session.project.id if session is not None and session.project is not None else None,
        pack_id=named.pack_id if named is not None else None,
        pack_digest=resolved.target.pack.digest if resolved is not None else None,
        verb_key=named.verb_key if named is not None else None,
        operation=resolved.target.row.operation if resolved is not None else None,
        binding_family=_family(trail),
        credential_id=bound.binding.credential_id if bound is not None else None,
        request_id=named.request_id if named is not None else None,
        envelope_digest=None if envelope is None else ports.seal.digest(_fingerprint(envelope)),
    )


def _family(trail: Trail) -> str | None:
    if trail.bound is not None:
        return trail.bound.binding.family
    if trail.resolved is None:
        return None
    return "mock" if trail.resolved.envelope.mock else trail.resolved.target.row.binding


def _fingerprint(envelope: Envelope) -> bytes:
    return encode([envelope.pack_id, envelope.verb_key, envelope.args, envelope.request_id, envelope.idempotency_key])


def timestamp(seconds: float) -> str:
    """Write Unix seconds as RFC 3339 in UTC with milliseconds."""
    whole = int(seconds // 1)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03}Z"


@lru_cache(maxsize=2)
def _second(whole: int) -> str:
    year, month, day, hour, minute, second = gmtime(whole)[:6]
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"

"""What a call would come to, asked without calling: for composites, availability and `--explain`."""

from __future__ import annotations

import msgspec

from hcpx.ports import Call, Credential, Ports
from hcpx.vocabulary.denial import Denial, denial_for, deny
from hcpx.vocabulary.envelope import BadEnvelope, Envelope
from hcpx.vocabulary.invocation import Enforced, Target
from hcpx.vocabulary.principal import Session

from . import step1_resolve, step2_authenticate, step3_authorize, step4_confirm
from .stages import Authenticated
from .step5_mint import mint_request


class Gate(msgspec.Struct, frozen=True):
    """What one step would answer; `denial` is None where it would let the call pass."""

    step: int
    name: str
    denial: Denial | None


class Explanation(msgspec.Struct, frozen=True):
    """Steps 1 to 6 looked at, each on its own as far as it can be; the exact argv, and what would hold."""

    gates: tuple[Gate, ...]
    argv: tuple[str, ...] | None = None
    program: str | None = None
    target: Target | None = None
    enforced: Enforced | None = None


def rehearse(ports: Ports, call: Call) -> Denial | None:
    """Walk steps 1 to 4 of a composite's step; a missing approval is asked for, nothing else happens."""
    session = step2_authenticate.identify(ports, call)
    if isinstance(session, Denial):
        return session
    envelope = step1_resolve.read(call)
    if isinstance(envelope, BadEnvelope):
        return envelope.denial
    resolved = step1_resolve.resolve(ports, call, session, envelope)
    if isinstance(resolved, Denial):
        return resolved
    authenticated = step2_authenticate.admit(ports, resolved)
    if isinstance(authenticated, Denial):
        return authenticated
    try:
        permitted = step3_authorize.authorize(ports, authenticated)
        if isinstance(permitted, Denial):
            return permitted
        confirmed = step4_confirm.confirm(ports, permitted)
        return confirmed if isinstance(confirmed, Denial) else None
    finally:
        _close(authenticated)


def explain(ports: Ports, call: Call) -> Explanation:
    """Say what steps 1 to 5 would answer, and whether step 6 could start; nothing is minted or run."""
    session = step2_authenticate.identify(ports, call)
    if isinstance(session, Denial):
        return Explanation((Gate(2, "authenticate", session),))
    found = _looked_through(ports, call, session)
    gates = tuple(_addressed(gate, session.actor) for gate in found.gates)
    return msgspec.structs.replace(found, gates=gates)


def _addressed(gate: Gate, actor: str | None) -> Gate:
    return gate if gate.denial is None else Gate(gate.step, gate.name, denial_for(actor, gate.denial))


def _looked_through(ports: Ports, call: Call, session: Session) -> Explanation:
    envelope = step1_resolve.read(call)
    if isinstance(envelope, BadEnvelope):
        return Explanation((Gate(1, "resolve", envelope.denial),))
    resolved = step1_resolve.resolve(ports, call, session, envelope)
    if isinstance(resolved, Denial):
        return Explanation((Gate(1, "resolve", resolved),))
    authenticated = step2_authenticate.admit(ports, resolved)
    if isinstance(authenticated, Denial):
        return Explanation((Gate(1, "resolve", None), Gate(2, "authenticate", authenticated)))
    try:
        return _explained(ports, authenticated)
    finally:
        _close(authenticated)


def _explained(ports: Ports, authenticated: Authenticated) -> Explanation:
    resolved = authenticated.resolved
    permitted = step3_authorize.authorize(ports, authenticated)
    barred = isinstance(permitted, Denial)
    agreed = step4_confirm.agreed(resolved) if barred else step4_confirm.confirm(ports, permitted, ask=False)
    argv = step4_confirm.rendered(resolved)
    adapter = ports.adapters[resolved.target.pack.kind]
    program = adapter.inspect(resolved.target)
    return Explanation(
        gates=(
            Gate(1, "resolve", None),
            Gate(2, "authenticate", None),
            Gate(3, "authorize", permitted if barred else None),
            Gate(4, "confirm", agreed if isinstance(agreed, Denial) else None),
            Gate(5, "mint", bindable(ports, resolved.target, mock=resolved.envelope.mock)),
            Gate(6, "run", program if isinstance(program, Denial) else None),
        ),
        argv=None if isinstance(argv, Denial) else argv,
        program=None if isinstance(program, Denial) else program.path,
        target=resolved.target,
        enforced=adapter.foreseen(resolved.target),
    )


def availability(ports: Ports, session: Session, pack_id: str, verb_key: str) -> Denial | None:
    """Say what a call with good args, confirm and its approvals would be denied with (Spec 02 section 5)."""
    call = Call(b"", Credential(None), session=session)
    resolved = step1_resolve.resolve(ports, call, session, Envelope(pack_id, verb_key, {}))
    if isinstance(resolved, Denial):
        return resolved
    authenticated = step2_authenticate.admit(ports, resolved)
    if isinstance(authenticated, Denial):
        return authenticated
    _close(authenticated)
    target = resolved.target
    return (
        step3_authorize.refusal(ports, target, None) or bindable(ports, target, mock=False) or runnable(ports, target)
    )


def bindable(ports: Ports, target: Target, *, mock: bool) -> Denial | None:
    """Look at step 5 without minting."""
    if mock:
        if target.command.mock is not None or ports.adapters[target.pack.kind].can_mock(target):
            return None
        return deny("no_mock", pack_id=target.pack.id, verb_key=target.command.verb_key)
    if target.row.binding == "public":
        return None
    return ports.hub.state(mint_request(target, target.row.binding))


def runnable(ports: Ports, target: Target) -> Denial | None:
    """Look at step 6 without starting."""
    found = ports.adapters[target.pack.kind].inspect(target)
    return found if isinstance(found, Denial) else None


def _close(authenticated: Authenticated) -> None:
    if authenticated.directory is not None:
        authenticated.directory.close()

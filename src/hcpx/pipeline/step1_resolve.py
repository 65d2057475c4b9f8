"""Step 1, resolve: the envelope, the pack, its activation on this session, the command's Policy row."""

from __future__ import annotations

from hcpx.ports import Call, Ports
from hcpx.rendering.command import compile_command
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.envelope import BadEnvelope, Envelope, read_envelope
from hcpx.vocabulary.invocation import Target
from hcpx.vocabulary.pack import inactive
from hcpx.vocabulary.policy import tightened
from hcpx.vocabulary.principal import Session

from .stages import Resolved


def read(call: Call) -> Envelope | BadEnvelope:
    """Read the payload strictly (Spec 01 section 2)."""
    return read_envelope(call.payload)


def resolve(ports: Ports, call: Call, session: Session, envelope: Envelope) -> Resolved | Denial:
    """Find exactly this pack and command in the session's tenant, active on the session, or deny."""
    pack_id, verb_key = envelope.pack_id, envelope.verb_key
    pack = ports.packs.find(session.tenant, pack_id)
    if pack is None:
        return deny("unknown_pack", pack_id=pack_id)
    code = inactive(pack, session.activations.get(pack_id))
    if code is not None:
        return deny(code, pack_id=pack_id)
    command = pack.commands.get(verb_key)
    row = pack.policy.get(verb_key)
    if command is None or row is None:
        return deny("no_policy", verb_key=verb_key, pack_id=pack_id)
    effective = tightened(row, ports.packs.overlay(session.tenant, pack_id, verb_key))
    return Resolved(
        call=call,
        envelope=envelope,
        target=Target(pack, command, effective, session),
        compiled=compile_command(pack, command),
    )

"""Step 5, mint: first the durable intent of what will change something, then the Binding."""

from __future__ import annotations

from hcpx.ports import Ports
from hcpx.vocabulary.binding import PUBLIC, MintRequest
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Target

from .recording import intent_record
from .stages import Bound, Confirmed, Intended
from .trail import Trail


def intend(ports: Ports, confirmed: Confirmed, trail: Trail) -> Intended | Denial:
    """Make the intent of a write, a connect or an approved call durable; reads owe none (Spec 01 section 3).

    The approvals are used up and the idempotency key is reserved in the same transaction.
    """
    resolved = confirmed.resolved
    target = resolved.target
    adapter = ports.adapters[target.pack.kind]
    if resolved.envelope.mock and target.command.mock is None and not adapter.can_mock(target):
        return deny("no_mock", pack_id=target.pack.id, verb_key=target.command.verb_key)
    if target.row.operation == "read" and not confirmed.approval_ids:
        return Intended(confirmed, durable=False)
    denial = ports.journal.intend(intent_record(ports, trail, confirmed), confirmed.approval_ids, confirmed.key)
    return denial if denial is not None else Intended(confirmed, durable=True)


def mint(ports: Ports, intended: Intended) -> Bound | Denial:
    """Mint for this principal and pack; the family comes from the row alone, never from the Invoker."""
    resolved = intended.confirmed.resolved
    family = "mock" if resolved.envelope.mock else resolved.target.row.binding
    if family == "public":
        return Bound(intended, PUBLIC)
    binding = ports.hub.mint(mint_request(resolved.target, family))
    return binding if isinstance(binding, Denial) else Bound(intended, binding)


def mint_request(target: Target, family: str) -> MintRequest:
    """Say what the hub must mint for a target."""
    spec, session = target.pack.binding, target.session
    return MintRequest(
        tenant=session.tenant,
        principal=session.principal,
        actor=session.actor,
        pack_id=target.pack.id,
        pack_digest=target.pack.digest,
        family=family,
        env=spec.env,
        file=None if spec.file is None else (spec.file.name, spec.file.content, spec.file.env),
        proposals=spec.proposals,
    )

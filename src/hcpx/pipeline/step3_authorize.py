"""Step 3, authorize: the capability for the row's operation, in a grant whose scope covers the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hcpx.ports import Ports
from hcpx.rendering.arguments import meets
from hcpx.vocabulary.capability import NEEDED, Grant
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Target

from . import ways_out
from .stages import Authenticated, Permitted


def authorize(ports: Ports, authenticated: Authenticated) -> Permitted | Denial:
    """Permit a call that the principal's grants and the session's scope both cover (Spec 01 section 3)."""
    resolved = authenticated.resolved
    denial = refusal(ports, resolved.target, resolved.envelope.args)
    return denial if denial is not None else Permitted(resolved, authenticated.directory)


def refusal(ports: Ports, target: Target, args: Mapping[str, object] | None) -> Denial | None:
    """Say why the session may not call the command, or None; with `args` None, for some args."""
    pack_id, verb_key, session = target.pack.id, target.command.verb_key, target.session
    capability = NEEDED[target.row.operation]
    if not target.row.everyone:
        now = ports.clock.now()
        named = ports.grants.naming(session.tenant, session.principal, capability, pack_id)
        granted = _covered(named, capability, target, args, now)
        if not granted or (session.scope is not None and not _covered(session.scope, capability, target, args, now)):
            return deny(
                "denied",
                capability=capability,
                pack_id=pack_id,
                verb_key=verb_key,
                principal=session.principal,
                # Of a session that was made narrower than the principal, no grant makes more.
                hint=ways_out.new_session(session, pack_id, verb_key) if granted else None,
            )
    if target.row.forbidden:
        return deny("forbidden", pack_id=pack_id, verb_key=verb_key)
    return None


def _covered(
    grants: Iterable[Grant], capability: str, target: Target, args: Mapping[str, object] | None, now: float
) -> bool:
    pack_id, verb_key = target.pack.id, target.command.verb_key
    return any(
        grant.names(capability, pack_id, verb_key, now)
        and (args is None or grant.args_schema is None or meets(grant.args_schema, args))
        for grant in grants
    )

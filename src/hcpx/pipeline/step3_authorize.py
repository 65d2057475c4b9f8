"""Step 3, authorize: the capability for the row's operation, in a grant whose scope covers the call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

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

    def fits(schema: str) -> bool:
        return args is None or meets(schema, args)

    if not target.row.everyone:
        now = ports.clock.now()
        named = ports.grants.naming(session.tenant, session.principal, capability, pack_id)
        scope = session.scope
        granted = covered(named, capability, (pack_id, verb_key), now, fits)
        if not granted or (scope is not None and not covered(scope, capability, (pack_id, verb_key), now, fits)):
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


def covered(
    grants: Iterable[Grant], capability: str, command: tuple[str, str], now: float, fits: Callable[[str], bool]
) -> bool:
    """Tell whether one of the grants covers a command, given as (pack_id, verb_key), at that time.

    `fits` says of a grant's JSON Schema whether the args meet it.
    """
    return any(
        grant.names(capability, *command, now) and (grant.args_schema is None or fits(grant.args_schema))
        for grant in grants
    )

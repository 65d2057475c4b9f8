"""Whether a session holds a right of people's: `verb.approve`, `audit.read` (Spec 01 section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hcpx.pipeline.step3_authorize import covered
from hcpx.rendering.arguments import meets
from hcpx.vocabulary.principal import Session

if TYPE_CHECKING:
    from .parts import Parts


def holds(
    parts: Parts,
    session: Session,
    capability: str,
    pack_id: str,
    verb_key: str,
    args: Mapping[str, object] | None = None,
) -> bool:
    """Tell whether the principal's grants AND the session's scope cover this command.

    A grant with a schema covers args that meet it; where no args are known (None) it covers nothing.
    """

    def fits(schema: str) -> bool:
        return args is not None and meets(schema, args)

    named = parts.grants.naming(session.tenant, session.principal, capability, pack_id)
    scopes = (named,) if session.scope is None else (named, session.scope)
    now = parts.clock.now()
    return all(covered(scope, capability, (pack_id, verb_key), now, fits) for scope in scopes)

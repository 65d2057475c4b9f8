"""Step 6, run: the Adapter of the pack's kind, with everything decided."""

from __future__ import annotations

import json

from hcpx.ports import Ports
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.invocation import Invocation, Ran

from .stages import Bound, Outcome
from .trail import invoker


def run(ports: Ports, bound: Bound, audit_id: str) -> Outcome | Denial:
    """Run the command; a mock fixture answers in its place and nothing is started."""
    confirmed = bound.intended.confirmed
    resolved = confirmed.resolved
    target, call = resolved.target, resolved.call
    if resolved.envelope.mock and target.command.mock is not None:
        return Outcome(bound, Ran(value=json.loads(target.command.mock), started=False))
    ran = ports.adapters[target.pack.kind].run(
        Invocation(
            pack=target.pack,
            command=target.command,
            row=target.row,
            session=target.session,
            envelope=resolved.envelope,
            argv=confirmed.argv,
            binding=bound.binding,
            mock=resolved.envelope.mock,
            directory=confirmed.directory,
            audit_id=audit_id,
            invoker=invoker(call, target.session),
            depth=call.depth,
            cancel=call.cancel,
            on_output=call.on_output,
            native_local=call.native_local,
        )
    )
    return ran if isinstance(ran, Denial) else Outcome(bound, ran)

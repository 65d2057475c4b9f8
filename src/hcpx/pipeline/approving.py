"""The last gate of step 4: live approvals of exactly this call (Spec 01 section 3, Approvals)."""

from __future__ import annotations

import msgspec

from hcpx.ports import Ports
from hcpx.rendering.arguments import meets
from hcpx.rendering.ecmascript import string
from hcpx.vocabulary.approval import Approval, Ask
from hcpx.vocabulary.denial import ApprovalTicket, Denial, deny
from hcpx.vocabulary.invocation import Program
from hcpx.vocabulary.json_text import canonical

from .stages import Permitted, Resolved
from .step3_authorize import covered
from .trail import timestamp

_RIGHT = "verb.approve"


def approved(ports: Ports, permitted: Permitted, argv: tuple[str, ...], *, ask: bool) -> tuple[str, ...] | Denial:
    """Return the ids of the approvals that this run uses up; none where the row wants none.

    Where they are missing, the denial names the pending request; with `ask` one is made if there is none.
    """
    resolved = permitted.resolved
    if resolved.target.row.approvals == 0:
        return ()
    wanted = request_for(ports, permitted, argv)
    approval = ports.approvals.waiting(wanted)
    if approval is not None and approval.state == "denied":
        reason = next((d.reason for d in approval.decisions if d.verdict == "deny"), "")
        return deny("approval_denied", reason=reason or "no reason given")
    if approval is not None and len(_standing(ports, resolved, approval)) >= resolved.target.row.approvals:
        return (approval.id,)
    if approval is None and not ask:
        return deny("approval_required", hint="ask for it by calling the command")
    return waiting_for(approval if approval is not None else ports.approvals.request(wanted))


def waiting_for(approval: Approval) -> Denial:
    """Make the denial that names a pending request."""
    ticket = ApprovalTicket(approval.id, approval.ask.digest, timestamp(approval.expires_at))
    return msgspec.structs.replace(deny("approval_required", approval_id=approval.id), approval=ticket)


def _standing(ports: Ports, resolved: Resolved, approval: Approval) -> set[str]:
    """Return who approved and still may: the right is checked again when the approval is used."""
    session, pack_id = resolved.target.session, resolved.target.pack.id
    command = (pack_id, resolved.target.command.verb_key)
    now = ports.clock.now()

    def fits(schema: str) -> bool:
        return meets(schema, resolved.envelope.args)

    return {
        said.principal
        for said in approval.decisions
        if said.verdict == "approve"
        and said.principal not in (session.principal, session.actor)
        and covered(ports.grants.naming(session.tenant, said.principal, _RIGHT, pack_id), _RIGHT, command, now, fits)
    }


def request_for(ports: Ports, permitted: Permitted, argv: tuple[str, ...]) -> Ask:
    """Bind a request to everything that Spec 01 section 3 names, and show the approver what it is."""
    resolved = permitted.resolved
    target, session = resolved.target, resolved.target.session
    found = ports.adapters[target.pack.kind].inspect(target)
    program = found if isinstance(found, Program) else Program()
    project = session.project.id if session.project is not None else None
    args = {name: value for name, value in resolved.envelope.args.items() if name not in ("confirm", "apply")}
    bound_to: list[object] = [
        session.tenant,
        session.principal,
        session.actor,
        project,
        target.pack.digest,
        msgspec.to_builtins(target.row),
        target.command.verb_key,
        args,
        list(argv),
        program.digest,
    ]
    return Ask(
        tenant=session.tenant,
        principal=session.principal,
        actor=session.actor,
        pack_id=target.pack.id,
        verb_key=target.command.verb_key,
        digest=ports.seal.digest(canonical(bound_to).encode()),
        needed=target.row.approvals,
        args=args if not resolved.compiled.secret else {},
        shown=_shown(permitted, argv, program, found if isinstance(found, Denial) else None),
    )


def _shown(permitted: Permitted, argv: tuple[str, ...], program: Program, blocked: Denial | None) -> dict[str, object]:
    resolved = permitted.resolved
    target = resolved.target
    wrap = target.pack.wrap
    secret = resolved.compiled.secret
    return {
        "pack": {"id": target.pack.id, "version": target.pack.version, "digest": target.pack.digest},
        "verb_key": target.command.verb_key,
        "summary": target.command.summary,
        "principal": target.session.principal,
        "actor": target.session.actor,
        "project": target.session.project.id if target.session.project is not None else None,
        "args": {k: "[secret]" if k in secret else v for k, v in resolved.envelope.args.items()},
        "argv": _masked(argv, secret, resolved.envelope.args),
        "program": {"path": program.path, "digest": program.digest},
        "workspace": wrap.workspace if wrap is not None else None,
        "directory": permitted.directory.path if permitted.directory is not None else None,
        "variables": sorted({*target.pack.binding.env, *(wrap.agent_env if wrap is not None else {})}),
        "binding": target.row.binding,
        "network": list(wrap.network) if wrap is not None else [],
        "row": msgspec.to_builtins(target.row),
        "would_then_fail": blocked.error if blocked is not None else None,
    }


def _masked(argv: tuple[str, ...], secret: frozenset[str], args: dict[str, object]) -> list[str]:
    """Return the argv with every token that holds the text of a secret arg masked."""
    hidden = [text for name in secret if (text := string(args.get(name)))]
    return ["[secret]" if any(text in token for text in hidden) else token for token in argv]

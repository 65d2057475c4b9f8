"""Step 4, confirm: agreement, valid args, a renderable argv, the idempotency key, others' approvals."""

from __future__ import annotations

from hcpx.ports import KeyUse, Ports, Replay
from hcpx.rendering.arguments import problem
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.json_text import canonical

from .approving import approved
from .stages import Confirmed, Permitted, Replayed, Resolved

CONSENT = ("confirm", "apply")


def confirm(ports: Ports, permitted: Permitted, *, ask: bool = True) -> Confirmed | Replayed | Denial:
    """Hold the gates of step 4 in the order of Spec 01 section 3.

    With `ask` false nobody is asked for an approval and no key is looked up.
    """
    resolved = permitted.resolved
    argv = agreed(resolved)
    if isinstance(argv, Denial):
        return argv
    warnings = resolved.compiled.warnings(resolved.envelope.args)
    key, ignored = _key_use(ports, resolved) if ask else (None, ())
    if key is not None:
        recalled = ports.journal.recall(key)
        if isinstance(recalled, Denial):
            return recalled
        if isinstance(recalled, Replay):
            return Replayed(resolved, recalled, warnings)
    approval_ids = approved(ports, permitted, argv, ask=ask)
    if isinstance(approval_ids, Denial):
        return approval_ids
    return Confirmed(resolved, permitted.directory, argv, key, approval_ids, warnings + ignored)


def agreed(resolved: Resolved) -> tuple[str, ...] | Denial:
    """Return the argv of a call that is confirmed where the row wants that, with valid args."""
    argv = rendered(resolved)
    if resolved.target.row.confirm and not resolved.envelope.confirmed:
        return _unconfirmed(argv)
    return argv


def rendered(resolved: Resolved) -> tuple[str, ...] | Denial:
    """Check the args against the command's schema and the overlays', then render the argv, purely."""
    args, compiled = resolved.envelope.args, resolved.compiled
    denial = compiled.check_args(args)
    if denial is not None:
        return denial
    for schema in resolved.target.row.args_schema:
        fault = problem(schema, args, compiled.secret)
        if fault is not None:
            return fault
    return compiled.render_argv(args)


def _unconfirmed(argv: tuple[str, ...] | Denial) -> Denial:
    denial = deny("confirm_required")
    if not isinstance(argv, Denial):
        return denial
    return Denial(
        denial.code,
        denial.step,
        denial.error,
        denial.hint,
        warnings=(f"these args would not pass: {argv.error}",),
    )


def _key_use(ports: Ports, resolved: Resolved) -> tuple[KeyUse | None, tuple[str, ...]]:
    """Return the use of an idempotency key; on a read it is ignored, with a warning (Spec 08 point 22)."""
    envelope, session = resolved.envelope, resolved.target.session
    if envelope.idempotency_key is None:
        return None, ()
    if resolved.target.row.operation == "read":
        return None, ("idempotency_key ignored: the command only reads",)
    plain = {name: value for name, value in envelope.args.items() if name not in CONSENT}
    content = canonical([envelope.pack_id, envelope.verb_key, plain]).encode()
    return KeyUse(session.tenant, session.principal, envelope.idempotency_key, ports.seal.digest(content)), ()

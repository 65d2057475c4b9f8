"""The composite Adapter: steps through the pipeline with the caller's rights, or a handler in process."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from hcpx.ports import Call, Credential, Gate, Redaction
from hcpx.vocabulary.denial import CATALOGUE, Cause, Denial, deny
from hcpx.vocabulary.invocation import Cancel, Invocation, Program, Ran, Target
from hcpx.vocabulary.json_text import OUTPUT_DEPTH, checked
from hcpx.vocabulary.pack import StepSpec
from hcpx.vocabulary.result import Result

from .deadline import Deadline
from .references import Missing, filled, refers_to_steps

MAX_DEPTH = 16
"""How deep composites may call composites (Spec 08 point 18)."""

Handler = Callable[[Invocation], object]
"""An in-process command: takes the invocation, returns a JSON value or a Denial."""

_UNSTARTED = frozenset(
    {"not_allowlisted", "not_executable", "sandbox_unavailable", "adapter_not_executable", "busy"},
)


class Composite:
    """Runs composite commands. Implements `hcpx.ports.Adapter`."""

    def __init__(self, gate: Gate, redaction: Redaction, handlers: Mapping[str, Handler]) -> None:
        self._gate = gate
        self._redaction = redaction
        self._handlers = handlers

    def inspect(self, target: Target) -> Program | Denial:
        """A composite starts no program of its own; a handler must be known."""
        handler = target.command.handler
        if handler is not None and handler not in self._handlers:
            return deny("adapter_not_executable", kind=f"composite (handler {handler})")
        return Program()

    def foreseen(self, target: Target) -> None:
        """Each step answers for itself."""

    def can_mock(self, target: Target) -> bool:
        """Steps are mocked one by one; a handler could do anything, so it needs a fixture."""
        return target.command.handler is None

    def run(self, invocation: Invocation) -> Ran | Denial:
        """Run the handler, or the steps in order until one fails."""
        if invocation.command.handler is None:
            return self._steps(invocation)
        handler = self._handlers.get(invocation.command.handler)
        if handler is None:
            return deny("adapter_not_executable", kind=f"composite (handler {invocation.command.handler})")
        answer = handler(invocation)
        if isinstance(answer, Denial):
            return answer
        value = checked(answer, OUTPUT_DEPTH)
        return Ran(value=self._redaction.of(invocation.binding).value(value))

    def _steps(self, invocation: Invocation) -> Ran | Denial:
        if invocation.depth >= MAX_DEPTH:
            return _failed(invocation.command.steps[0].name, f"composites nest deeper than {MAX_DEPTH}")
        with Deadline(invocation.cancel, invocation.row.limits.timeout_s) as deadline:
            denial = self._rehearsed(invocation)
            return denial if denial is not None else self._walk(invocation, deadline)

    def _rehearsed(self, invocation: Invocation) -> Denial | None:
        """Before the first step runs, every step that depends on no other passes steps 1 to 4 dry."""
        for step in invocation.command.steps:
            if refers_to_steps(step.args):
                continue
            denial = self._gate.rehearse(_call(invocation, step, _args(invocation, step, {}), invocation.cancel))
            if denial is not None:
                cause = Cause(denial.code, denial.step, step.pack_id, step.verb_key, denial.approval)
                return _failed(step.name, denial.error, cause, denial.hint)
        return None

    def _walk(self, invocation: Invocation, deadline: Deadline) -> Ran | Denial:
        results: dict[str, object] = {}
        started = False
        for step in invocation.command.steps:
            if deadline.passed():
                return _ended(_over(deadline), started=started)
            args = _args(invocation, step, results)
            if isinstance(args, Missing):
                return _ended(_failed(step.name, args.why), started=started)
            result = self._gate.execute(_call(invocation, step, args, deadline.cancel))
            started = started or _was_started(result)
            if not result.ok:
                return _ended(_over(deadline) if deadline.passed() else _caused(step, result), started=started)
            results[step.name] = None if result.result is msgspec.UNSET else result.result
        return _output(invocation, results)


def _output(invocation: Invocation, results: dict[str, object]) -> Ran:
    command = invocation.command
    if command.output is None:
        return Ran(value=results)
    value = filled(msgspec.json.decode(command.output), invocation.envelope.args, results)
    if isinstance(value, Missing):
        failure = _failed(command.steps[-1].name, value.why)
        return Ran(code=failure.code, error=failure.error)
    return Ran(value=value)


def _args(invocation: Invocation, step: StepSpec, results: Mapping[str, object]) -> dict[str, object] | Missing:
    """Fill a step's args; consent is handed down only by a composite that asks for it (Spec 08 point 17)."""
    given = invocation.envelope.args
    args = filled(step.args, given, results)
    if isinstance(args, Missing):
        return args
    handed: dict[str, object] = {}
    if invocation.row.confirm:
        handed = {name: True for name in ("confirm", "apply") if given.get(name) is True}
    if invocation.mock:
        handed["mode"] = "mock"
    return {**args, **handed} if isinstance(args, dict) else handed


def _call(invocation: Invocation, step: StepSpec, args: dict[str, object] | Missing, cancel: Cancel) -> Call:
    payload: dict[str, object] = {"pack_id": step.pack_id, "verb_key": step.verb_key, "args": args}
    if invocation.envelope.request_id is not None:
        payload["request_id"] = invocation.envelope.request_id
    return Call(
        payload=payload,
        credential=Credential(None),
        face=invocation.invoker,
        cancel=cancel,
        on_output=invocation.on_output,
        native_local=invocation.native_local,
        session=invocation.session,
        parent=invocation.audit_id,
        depth=invocation.depth + 1,
    )


def _failed(name: str, error: str, cause: Cause | None = None, hint: str | None = None) -> Denial:
    denial = deny("step_failed", name=name, error="", hint=hint)
    return msgspec.structs.replace(denial, error=f"step {name}: {error}", cause=cause)


def _caused(step: StepSpec, result: Result) -> Denial:
    code = result.code if result.code is not msgspec.UNSET else "internal"
    cause = Cause(
        code=code,
        step=result.step if result.step is not msgspec.UNSET else CATALOGUE[code].steps[0],
        pack_id=step.pack_id,
        verb_key=step.verb_key,
        approval=result.approval if result.approval is not msgspec.UNSET else None,
    )
    error = result.error if result.error is not msgspec.UNSET else code
    return _failed(step.name, error, cause, result.hint if result.hint is not msgspec.UNSET else None)


def _ended(failure: Denial, *, started: bool) -> Ran | Denial:
    """A failure before anything was started is a denial, so that approvals are given back."""
    if not started:
        return failure
    return Ran(code=failure.code, error=failure.error, cause=failure.cause, hint=failure.hint)


def _was_started(result: Result) -> bool:
    return result.ok or (result.step in (6, 7) and result.code not in _UNSTARTED)


def _over(deadline: Deadline) -> Denial:
    return deny("timeout", seconds=deadline.seconds_text) if deadline.expired else deny("cancelled")

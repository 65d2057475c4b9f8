"""`hcpx exec --explain`: what steps 1 to 5 would answer, and the exact argv."""

from __future__ import annotations

import sys

import msgspec

from hcpx.runtime import Explanation
from hcpx.vocabulary.denial import CATALOGUE
from hcpx.vocabulary.json_text import encode

from .people import visible


def print_explanation(explanation: Explanation, *, as_json: bool) -> int:
    """Print it; the exit status is that of the first denial, 0 where the call would start."""
    blocked = next((gate.denial for gate in explanation.gates if gate.denial is not None), None)
    if as_json:
        sys.stdout.buffer.write(encode(_value(explanation)) + b"\n")
    else:
        _print(explanation)
    return 0 if blocked is None else CATALOGUE[blocked.code].exit or 1


def _value(explanation: Explanation) -> dict[str, object]:
    value: dict[str, object] = {"ok": all(gate.denial is None for gate in explanation.gates)}
    value["steps"] = [
        {"step": gate.step, "name": gate.name, "ok": gate.denial is None}
        | ({} if gate.denial is None else {"code": gate.denial.code, "error": gate.denial.error})
        | ({} if gate.denial is None or gate.denial.hint is None else {"hint": gate.denial.hint})
        for gate in explanation.gates
    ]
    if explanation.argv is not None:
        value["argv"] = list(explanation.argv)
    if explanation.program:
        value["program"] = explanation.program
    if explanation.target is not None:
        value["row"] = msgspec.to_builtins(explanation.target.row)
    if explanation.enforced is not None:
        value["enforced"] = msgspec.to_builtins(explanation.enforced)
    return value


def _print(explanation: Explanation) -> None:
    for gate in explanation.gates:
        answer = "passes" if gate.denial is None else f"{gate.denial.code}: {gate.denial.error}"
        sys.stdout.write(f"{gate.step} {gate.name:<13} {visible(answer)}\n")
        if gate.denial is not None and gate.denial.hint is not None:
            sys.stdout.write(f"{'':15} hint: {visible(gate.denial.hint)}\n")
    if explanation.program:
        sys.stdout.write(f"program: {visible(explanation.program)}\n")
    if explanation.argv is not None:
        sys.stdout.write("argv:\n" + "".join(f"  {visible(repr(token))}\n" for token in explanation.argv))
    if explanation.enforced is not None:
        held = explanation.enforced
        sys.stdout.write(f"sandbox: {held.sandbox}; network: {held.network}; writable: {', '.join(held.writable)}\n")

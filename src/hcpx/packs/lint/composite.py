"""Rules about composites: no gate is walked around, nothing runs in circles (Spec 02 section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hcpx.packs.yaml_nodes import Path
from hcpx.vocabulary.pack import Command, Pack, StepSpec
from hcpx.vocabulary.text import nearest

from .rule import Draft, Hit, Rule

_Name = tuple[str, str]


def _no_steps(draft: Draft) -> Iterator[Hit]:
    if draft.pack.kind != "composite":
        return
    for verb_key, command in draft.pack.commands.items():
        if bool(command.steps) == (command.handler is not None):
            yield Hit(f"{verb_key} has either steps or a handler", ("commands", verb_key))


def _handler_unpackaged(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        if command.handler is not None and not draft.packaged:
            message = f"{verb_key} names a handler, and the pack does not come in a Python package"
            yield Hit(message, ("commands", verb_key, "handler"))


def _composite_unconfirmed(draft: Draft) -> Iterator[Hit]:
    for verb_key, command, step, path in _steps(draft):
        row = draft.pack.policy.get(verb_key)
        pack = _pack(draft, step.pack_id)
        inner = pack.policy.get(step.verb_key) if pack is not None else None
        if row is None or row.confirm or inner is None or not (inner.confirm or inner.approvals):
            continue
        asks = "confirm" if inner.confirm else "approvals"
        message = f"{command.verb_key}: the step {step.name} needs {asks}, and the composite does not confirm"
        yield Hit(message, path)


def _composite_cycle(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        for place, step in enumerate(command.steps):
            way = _way_back(draft, (step.pack_id, step.verb_key), (draft.pack.id, verb_key))
            if way is not None:
                names = " > ".join(f"{pack_id}.{key}" for pack_id, key in [(draft.pack.id, verb_key), *way])
                yield Hit(f"the step {step.name} leads back: {names}", ("commands", verb_key, "steps", place))


def _way_back(draft: Draft, start: _Name, goal: _Name) -> list[_Name] | None:
    """Return the commands from `start` to `goal`, both included, or None where no way leads there."""
    came_from: dict[_Name, _Name | None] = {start: None}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if here == goal:
            way = [here]
            while (before := came_from[way[0]]) is not None:
                way.insert(0, before)
            return way
        pack = _pack(draft, here[0])
        command = pack.commands.get(here[1]) if pack is not None else None
        for step in command.steps if command is not None else ():
            there = (step.pack_id, step.verb_key)
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)
    return None


def _step_unknown(draft: Draft) -> Iterator[Hit]:
    for verb_key, _, step, path in _steps(draft):
        pack = _pack(draft, step.pack_id)
        if pack is None:
            message = f"{verb_key}: the pack {step.pack_id} of the step {step.name} is not installed"
            yield Hit(message, path, "install it first, so that its rows can be judged")
        elif step.verb_key not in pack.commands and step.pack_id != draft.pack.id:
            yield Hit(f"{verb_key}: the pack {step.pack_id} has no command {step.verb_key}", path)


def _step_missing(draft: Draft) -> Iterator[Hit]:
    for verb_key, _, step, path in _steps(draft):
        if step.pack_id == draft.pack.id and step.verb_key not in draft.pack.commands:
            near = nearest(step.verb_key, tuple(draft.pack.commands))
            mend = f"did you mean {near}?" if near else None
            yield Hit(f"{verb_key}: the pack has no command {step.verb_key}", path, mend)


def _step_control(draft: Draft) -> Iterator[Hit]:
    for verb_key, _, step, path in _steps(draft):
        for name in ("confirm", "apply", "mode"):
            if name in step.args:
                yield Hit(f"{verb_key}: the step {step.name} sets {name}", (*path, "args", name))


def _step_twice(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        names: set[str] = set()
        for place, step in enumerate(command.steps):
            if step.name in names:
                path = ("commands", verb_key, "steps", place, "name")
                yield Hit(f"{verb_key}: a second step has the name {step.name}", path)
            names.add(step.name)


def _steps(draft: Draft) -> Iterator[tuple[str, Command, StepSpec, Path]]:
    for verb_key, command in draft.pack.commands.items():
        for place, step in enumerate(command.steps):
            yield verb_key, command, step, ("commands", verb_key, "steps", place)


def _pack(draft: Draft, pack_id: str) -> Pack | None:
    """Return the pack as it will be: the draft itself under its own id."""
    return draft.pack if pack_id == draft.pack.id else draft.installed(pack_id)


_PAY: Final = "pay: {summary: s, steps: [{name: one, pack_id: demo, verb_key: look}]}"
_ROWS: Final = "policy: {look: {operation: read}, pay: {operation: read}}"


def composite(commands: str, rows: str = _ROWS) -> str:
    """Return an example: a composite of these commands."""
    return f"kind: composite\nwrap:\ncommands: {{{commands}}}\n{rows}"


RULES: Final = (
    Rule(
        code="no_steps",
        severity="error",
        demand="A command of a composite has either steps or a handler.",
        mend="add steps: [{name: ..., pack_id: ..., verb_key: ...}]",
        check=_no_steps,
        refused=(composite("look: {summary: s}", "policy: {look: {operation: read}}"),),
        fine=(
            composite(
                "look: {summary: s, steps: [{name: a, pack_id: other, verb_key: x}]}",
                "policy: {look: {operation: read}}",
            ),
        ),
    ),
    Rule(
        code="handler_unpackaged",
        severity="error",
        demand="handler is for packs that come in Python packages: no other runs code inside the runtime.",
        mend="write the command as steps",
        check=_handler_unpackaged,
        refused=(composite("look: {summary: s, handler: mine}", "policy: {look: {operation: read}}"),),
        fine=("{}",),
    ),
    Rule(
        code="composite_unconfirmed",
        severity="error",
        demand="A composite around a step that needs confirm or approvals has confirm: true.",
        mend="set confirm: true in the composite's row",
        check=_composite_unconfirmed,
        refused=(
            composite(
                "pay: {steps: [{name: a, pack_id: other, verb_key: x}]}, "
                "day: {steps: [{name: b, pack_id: demo, verb_key: pay}]}",
                "policy: {pay: {operation: write, confirm: true}, day: {operation: write, confirm: false}}",
            ),
            composite(
                "pay: {steps: [{name: a, pack_id: other, verb_key: x}]}, "
                "day: {steps: [{name: b, pack_id: demo, verb_key: pay}]}",
                "policy: {pay: {operation: read, approvals: 1}, day: {operation: read}}",
            ),
        ),
        fine=(
            composite(
                "pay: {steps: [{name: a, pack_id: other, verb_key: x}]}, "
                "day: {steps: [{name: b, pack_id: demo, verb_key: pay}]}",
                "policy: {pay: {operation: write, confirm: true}, day: {operation: write, confirm: true}}",
            ),
        ),
    ),
    Rule(
        code="composite_cycle",
        severity="error",
        demand="No composite leads back to itself.",
        mend="take the step out",
        check=_composite_cycle,
        refused=(
            composite(
                "look: {steps: [{name: a, pack_id: demo, verb_key: look}]}",
                "policy: {look: {operation: read}}",
            ),
            composite(
                "look: {steps: [{name: a, pack_id: demo, verb_key: pay}]}, "
                "pay: {steps: [{name: a, pack_id: demo, verb_key: look}]}"
            ),
        ),
        fine=(composite(f"look: {{steps: [{{name: a, pack_id: other, verb_key: x}}]}}, {_PAY}"),),
    ),
    Rule(
        code="step_missing",
        severity="error",
        demand="A step that calls the pack itself calls a command that it has.",
        mend="name a command of the pack",
        check=_step_missing,
        refused=(composite("look: {steps: [{name: a, pack_id: demo, verb_key: lok}]}"),),
        fine=("{}",),
    ),
    Rule(
        code="step_unknown",
        severity="warning",
        demand="The packs and commands that steps call are installed; activation asks again.",
        mend="name a command that the pack has",
        check=_step_unknown,
        refused=(composite("look: {steps: [{name: a, pack_id: absent, verb_key: x}]}"),),
        fine=(composite(f"look: {{summary: s}}, {_PAY}"),),
    ),
    Rule(
        code="step_control",
        severity="error",
        demand="A step does not set confirm, apply or mode: it inherits them.",
        mend="take it out of the step's args",
        check=_step_control,
        refused=(composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {confirm: true}}]}"),),
        fine=(composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {to: {mode: x}}}]}"),),
    ),
    Rule(
        code="step_twice",
        severity="error",
        demand="The steps of a command have names of their own.",
        mend="rename one of them",
        check=_step_twice,
        refused=(composite("look: {steps: [{name: a, pack_id: x, verb_key: x}, {name: a, pack_id: x, verb_key: y}]}"),),
        fine=(composite("look: {steps: [{name: a, pack_id: other, verb_key: x}]}"),),
    ),
)

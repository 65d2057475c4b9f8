"""Rules about composites: gates are not walked around, references lead somewhere, nothing runs in circles (Spec 02)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from hcpx.packs.yaml_nodes import Path
from hcpx.rendering.traits import declared
from hcpx.vocabulary.pack import Command, Pack, StepSpec
from hcpx.vocabulary.text import nearest

from .args import is_open
from .rule import Draft, Hit, Rule

_Name = tuple[str, str]
_ARG: Final = frozenset({"$arg"})
_STEP: Final = frozenset({"$step", "path"})


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


def _bad_reference(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        before: set[str] = set()
        for place, step in enumerate(command.steps):
            path: Path = ("commands", verb_key, "steps", place, "args")
            yield from _references(command, step.args, before, path)
            before.add(step.name)
        if command.output is not None:
            output: object = json.loads(command.output)
            yield from _references(command, output, before, ("commands", verb_key, "output"))


def _references(command: Command, value: object, steps: set[str], path: Path) -> Iterator[Hit]:
    """Find references that cannot lead anywhere; `steps` are the names that have a result by then."""
    if isinstance(value, list):
        for place, item in enumerate(cast("list[object]", value)):
            yield from _references(command, item, steps, (*path, place))
    if not isinstance(value, dict):
        return
    body = cast("dict[str, object]", value)
    if body.keys() == _ARG:
        yield from _arg_reference(command, body["$arg"], path)
    elif body.keys() == _STEP:
        yield from _step_reference(command, body, steps, path)
    else:
        for key, item in body.items():
            yield from _references(command, item, steps, (*path, key))


def _arg_reference(command: Command, name: object, path: Path) -> Iterator[Hit]:
    if not isinstance(name, str):
        yield Hit(f"{command.verb_key}: $arg names an arg as text", path)
        return
    schema = json.loads(command.args_schema) if command.args_schema is not None else {}
    if not is_open(schema) and name not in declared(schema):
        near = nearest(name, tuple(declared(schema)))
        mend = f"did you mean {near}?" if near else None
        yield Hit(f"{command.verb_key}: $arg names {name}, which args does not declare", path, mend)


def _step_reference(command: Command, body: dict[str, object], steps: set[str], path: Path) -> Iterator[Hit]:
    name, pointer = body["$step"], body["path"]
    if name not in steps:
        yield Hit(f"{command.verb_key}: $step names {name}, which is no step before this", path)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        yield Hit(f"{command.verb_key}: path is a JSON pointer, such as /id", path)


def _odd_reference(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        places: list[tuple[object, Path]] = [
            (step.args, ("commands", verb_key, "steps", place, "args"))
            for place, step in enumerate(command.steps)
        ]
        if command.output is not None:
            places.append((json.loads(command.output), ("commands", verb_key, "output")))
        for value, path in places:
            yield from _odd(verb_key, value, path)


def _odd(verb_key: str, value: object, path: Path) -> Iterator[Hit]:
    items = enumerate(cast("list[object]", value)) if isinstance(value, list) else ()
    if isinstance(value, dict):
        body = cast("dict[str, object]", value)
        if {"$arg", "$step"} & body.keys() and body.keys() not in (_ARG, _STEP):
            yield Hit(f"{verb_key}: a mapping with $arg or $step and other keys stays as it is written", path)
        items = body.items()
    for step, item in items:
        yield from _odd(verb_key, item, (*path, step))


def _steps(draft: Draft) -> Iterator[tuple[str, Command, StepSpec, Path]]:
    for verb_key, command in draft.pack.commands.items():
        for place, step in enumerate(command.steps):
            yield verb_key, command, step, ("commands", verb_key, "steps", place)


def _pack(draft: Draft, pack_id: str) -> Pack | None:
    """Return the pack as it will be: the draft itself under its own id."""
    return draft.pack if pack_id == draft.pack.id else draft.installed(pack_id)


_PAY: Final = "pay: {summary: s, steps: [{name: one, pack_id: demo, verb_key: look}]}"
_ROWS: Final = "policy: {look: {operation: read}, pay: {operation: read}}"


def _composite(commands: str, rows: str = _ROWS) -> str:
    return f"kind: composite\nwrap:\ncommands: {{{commands}}}\n{rows}"


RULES: Final = (
    Rule(
        code="no_steps",
        severity="error",
        demand="A command of a composite has either steps or a handler.",
        mend="add steps: [{name: ..., pack_id: ..., verb_key: ...}]",
        check=_no_steps,
        refused=(_composite("look: {summary: s}", "policy: {look: {operation: read}}"),),
        fine=(
            _composite(
                "look: {summary: s, steps: [{name: a, pack_id: other, verb_key: x}]}",
                "policy: {look: {operation: read}}",
            ),
        ),
    ),
    Rule(
        code="handler_unpackaged",
        severity="error",
        demand="handler is for packs that come in Python packages: no other pack runs code inside the runtime.",
        mend="write the command as steps",
        check=_handler_unpackaged,
        refused=(_composite("look: {summary: s, handler: mine}", "policy: {look: {operation: read}}"),),
        fine=("{}",),
    ),
    Rule(
        code="composite_unconfirmed",
        severity="error",
        demand="A composite around a step that needs confirm or approvals has confirm: true.",
        mend="set confirm: true in the composite's row",
        check=_composite_unconfirmed,
        refused=(
            _composite(
                "pay: {steps: [{name: a, pack_id: other, verb_key: x}]}, "
                "day: {steps: [{name: b, pack_id: demo, verb_key: pay}]}",
                "policy: {pay: {operation: write, confirm: true}, day: {operation: write, confirm: false}}",
            ),
            _composite(
                "pay: {steps: [{name: a, pack_id: other, verb_key: x}]}, "
                "day: {steps: [{name: b, pack_id: demo, verb_key: pay}]}",
                "policy: {pay: {operation: read, approvals: 1}, day: {operation: read}}",
            ),
        ),
        fine=(
            _composite(
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
            _composite(
                "look: {steps: [{name: a, pack_id: demo, verb_key: look}]}",
                "policy: {look: {operation: read}}",
            ),
            _composite(
                "look: {steps: [{name: a, pack_id: demo, verb_key: pay}]}, "
                "pay: {steps: [{name: a, pack_id: demo, verb_key: look}]}"
            ),
        ),
        fine=(_composite(f"look: {{steps: [{{name: a, pack_id: other, verb_key: x}}]}}, {_PAY}"),),
    ),
    Rule(
        code="step_missing",
        severity="error",
        demand="A step that calls the pack itself calls a command that it has.",
        mend="name a command of the pack",
        check=_step_missing,
        refused=(_composite("look: {steps: [{name: a, pack_id: demo, verb_key: lok}]}"),),
        fine=("{}",),
    ),
    Rule(
        code="step_unknown",
        severity="warning",
        demand="The packs and commands that steps call are installed; activation asks again.",
        mend="name a command that the pack has",
        check=_step_unknown,
        refused=(_composite("look: {steps: [{name: a, pack_id: absent, verb_key: x}]}"),),
        fine=(_composite(f"look: {{summary: s}}, {_PAY}"),),
    ),
    Rule(
        code="step_control",
        severity="error",
        demand="A step does not set confirm, apply or mode: it inherits them.",
        mend="take it out of the step's args",
        check=_step_control,
        refused=(
            _composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {confirm: true}}]}"),
        ),
        fine=(_composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {to: {mode: x}}}]}"),),
    ),
    Rule(
        code="step_twice",
        severity="error",
        demand="The steps of a command have names of their own.",
        mend="rename one of them",
        check=_step_twice,
        refused=(
            _composite(
                "look: {steps: [{name: a, pack_id: other, verb_key: x}, {name: a, pack_id: other, verb_key: y}]}"
            ),
        ),
        fine=(_composite("look: {steps: [{name: a, pack_id: other, verb_key: x}]}"),),
    ),
    Rule(
        code="bad_reference",
        severity="error",
        demand="$arg names a declared arg, $step a step before it, with a JSON pointer as path.",
        mend="name an arg or an earlier step",
        check=_bad_reference,
        refused=(
            _composite(
                "look: {args: {n: {}}, steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: m}}}]}"
            ),
            _composite(
                "look: {steps: [{name: a, pack_id: other, verb_key: x, args: {n: [{$step: a, path: /id}]}}]}"
            ),
            _composite(
                "look: {steps: [{name: a, pack_id: other, verb_key: x}], output: {id: {$step: a, path: id}}}"
            ),
            _composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: 1}}}]}"),
        ),
        fine=(
            _composite(
                "look: {args: {n: {}}, steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: n}}}], "
                "output: {id: {$step: a, path: ''}}}"
            ),
        ),
    ),
    Rule(
        code="odd_reference",
        severity="warning",
        demand="A reference is {$arg: name} or {$step: name, path: /pointer} and nothing else.",
        mend="take the other keys out; or leave it, if it is meant as it is written",
        check=_odd_reference,
        refused=(
            _composite(
                "look: {steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: n, or: 1}}}]}"
            ),
            _composite("look: {steps: [{name: a, pack_id: other, verb_key: x}], output: {$step: a}}"),
        ),
        fine=(_composite("look: {steps: [{name: a, pack_id: other, verb_key: x}], output: {$cost: 1}}"),),
    ),
)

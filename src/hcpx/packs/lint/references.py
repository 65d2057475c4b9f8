"""Rules about what a composite's `{$arg}` and `{$step}` stand for (Spec 02 section 1)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from hcpx.packs.yaml_nodes import Path
from hcpx.rendering.traits import declared
from hcpx.vocabulary.pack import Command
from hcpx.vocabulary.text import nearest

from .args import is_open
from .composite import composite
from .rule import Draft, Hit, Rule

_ARG: Final = frozenset({"$arg"})
_STEP: Final = frozenset({"$step", "path"})
_WHOLE_STEP: Final = frozenset({"$step"})


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
    elif body.keys() in (_STEP, _WHOLE_STEP):
        yield from _step_reference(command, body, steps, path)
    else:
        for key, item in body.items():
            yield from _references(command, item, steps, (*path, key))


def _arg_reference(command: Command, name: object, path: Path) -> Iterator[Hit]:
    if not isinstance(name, str):
        yield Hit(f"{command.verb_key}: $arg names an arg as text", path)
        return
    schema: dict[str, object] = {} if command.args_schema is None else json.loads(command.args_schema)
    if not is_open(schema) and name not in declared(schema):
        near = nearest(name, tuple(declared(schema)))
        mend = f"did you mean {near}?" if near else None
        yield Hit(f"{command.verb_key}: $arg names {name}, which args does not declare", path, mend)


def _step_reference(command: Command, body: dict[str, object], steps: set[str], path: Path) -> Iterator[Hit]:
    name, pointer = body["$step"], body.get("path", "")
    if not isinstance(name, str) or name not in steps:
        yield Hit(f"{command.verb_key}: $step names {name}, which is no step before this", path)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        yield Hit(f"{command.verb_key}: path is a JSON pointer, such as /id", path)


def _odd_reference(draft: Draft) -> Iterator[Hit]:
    for verb_key, command in draft.pack.commands.items():
        places: list[tuple[object, Path]] = [
            (step.args, ("commands", verb_key, "steps", place, "args")) for place, step in enumerate(command.steps)
        ]
        if command.output is not None:
            places.append((json.loads(command.output), ("commands", verb_key, "output")))
        for value, path in places:
            yield from _odd(verb_key, value, path)


def _odd(verb_key: str, value: object, path: Path) -> Iterator[Hit]:
    items = enumerate(cast("list[object]", value)) if isinstance(value, list) else ()
    if isinstance(value, dict):
        body = cast("dict[str, object]", value)
        if {"$arg", "$step"} & body.keys() and body.keys() not in (_ARG, _STEP, _WHOLE_STEP):
            yield Hit(f"{verb_key}: a mapping with $arg or $step and other keys stays as it is written", path)
        items = body.items()
    for step, item in items:
        yield from _odd(verb_key, item, (*path, step))


RULES: Final = (
    Rule(
        code="bad_reference",
        severity="error",
        demand="$arg names a declared arg, $step a step before it, with a JSON pointer as path.",
        mend="name an arg or an earlier step",
        check=_bad_reference,
        refused=(
            composite("look: {args: {n: {}}, steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: m}}}]}"),
            composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {n: [{$step: a, path: /id}]}}]}"),
            composite("look: {steps: [{name: a, pack_id: other, verb_key: x}], output: {id: {$step: a, path: id}}}"),
            composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: 1}}}]}"),
        ),
        fine=(
            composite(
                "look: {args: {n: {}}, steps: [{name: a, pack_id: x, verb_key: x, args: {n: {$arg: n}}}], "
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
            composite("look: {steps: [{name: a, pack_id: other, verb_key: x, args: {n: {$arg: n, or: 1}}}]}"),
            composite("look: {steps: [{name: a, pack_id: other, verb_key: x}], output: {$step: a, pth: /id}}"),
        ),
        fine=(composite("look: {steps: [{name: a, pack_id: other, verb_key: x}], output: {$cost: 1}}"),),
    ),
)

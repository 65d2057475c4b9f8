"""Rules about the schemas of args: valid, closed in themselves, no way around a gate (Spec 02 section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from hcpx.packs.yaml_nodes import Path
from hcpx.rendering import arguments as rendering
from hcpx.rendering.traits import declared
from hcpx.vocabulary.text import nearest

from .rule import Draft, Hit, Rule

_ARG_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES: Final = ("$ref", "$dynamicRef")


def _schemas(draft: Draft) -> Iterator[tuple[str, dict[str, object], Path]]:
    """Yield verb_key, whole schema and path in the manifest of each command that declares args."""
    import json

    for verb_key, command in draft.pack.commands.items():
        if command.args_schema is not None and "args" in draft.body("commands", verb_key):
            yield (
                verb_key,
                cast("dict[str, object]", json.loads(command.args_schema)),
                (
                    "commands",
                    verb_key,
                    "args",
                ),
            )


def _args_schema(draft: Draft) -> Iterator[Hit]:
    for verb_key, schema, path in _schemas(draft):
        if any(_remote(body) or _foreign(body) for _, body in _walk(schema, ())):
            continue
        why = rendering.args_schema(str(draft.pack.commands[verb_key].args_schema)).fault()
        if why is not None:
            yield Hit(f"the args schema of {verb_key} cannot be used: {why}", path)


def _remote_ref(draft: Draft) -> Iterator[Hit]:
    for verb_key, schema, path in _schemas(draft):
        for where, body in _walk(schema, ()):
            for keyword in _remote(body):
                message = f"{verb_key}: the reference {body[keyword]} leads out of the document"
                yield Hit(message, _in_manifest(draft, path, (*where, keyword)))


def _remote(body: dict[str, object]) -> list[str]:
    """Return the keywords by which a schema refers to another document."""
    return [
        keyword
        for keyword in _REFERENCES
        if isinstance(body.get(keyword), str) and not str(body[keyword]).startswith("#")
    ]


def _other_dialect(draft: Draft) -> Iterator[Hit]:
    for verb_key, schema, path in _schemas(draft):
        for where, body in _walk(schema, ()):
            if _foreign(body):
                message = f"{verb_key}: {body['$schema']} is no dialect that args are judged by"
                yield Hit(message, _in_manifest(draft, path, (*where, "$schema")))


def _foreign(body: dict[str, object]) -> bool:
    return body.get("$schema", _DIALECT) not in (_DIALECT, f"{_DIALECT}#")


def _bad_arg_name(draft: Draft) -> Iterator[Hit]:
    for verb_key, schema, path in _schemas(draft):
        for name in declared(schema):
            if _ARG_NAME.fullmatch(name) is None:
                message = f'{verb_key}: "{name}" is no name of an arg'
                yield Hit(message, _in_manifest(draft, path, ("properties", name)))


def _control_arg(draft: Draft) -> Iterator[Hit]:
    for verb_key, schema, path in _schemas(draft):
        args = declared(schema)
        for name in ("confirm", "apply"):
            if not all(_is_boolean(body) for body in args.get(name, [])):
                message = f"{verb_key}: {name} is the runtime's own arg, and boolean"
                yield Hit(message, _in_manifest(draft, path, ("properties", name)))
        if any(_holds_mock(body) for body in args.get("mode", [])):
            message = f'{verb_key}: mode "mock" asks for a mock run and never reaches the program'
            yield Hit(message, _in_manifest(draft, path, ("properties", "mode")))


def _is_boolean(schema: object) -> bool:
    return isinstance(schema, dict) and cast("dict[str, object]", schema).get("type") == "boolean"


def _holds_mock(schema: object) -> bool:
    return any(body.get("const") == "mock" or "mock" in _listed(body.get("enum")) for _, body in _walk(schema, ()))


def _required_unknown(draft: Draft) -> Iterator[Hit]:
    for verb_key, schema, _ in _schemas(draft):
        names = declared(schema)
        if is_open(schema):
            continue
        for place, name in enumerate(_listed(draft.body("commands", verb_key).get("required"))):
            if name not in names:
                near = nearest(str(name), tuple(names))
                mend = f"did you mean {near}?" if near else None
                message = f"{verb_key}: required names {name}, which args does not declare"
                yield Hit(message, ("commands", verb_key, "required", place), mend)


def is_open(schema: Mapping[str, object]) -> bool:
    """Tell whether a schema lets args through that it does not name."""
    closed = schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False
    return not closed or bool(schema.get("patternProperties"))


def _walk(node: object, path: Path) -> Iterator[tuple[Path, dict[str, object]]]:
    """Yield every mapping of a schema, whatever it is for: so does the runtime for references."""
    if isinstance(node, list):
        for place, item in enumerate(cast("list[object]", node)):
            yield from _walk(item, (*path, place))
    if isinstance(node, dict):
        body = cast("dict[str, object]", node)
        yield path, body
        for keyword, item in body.items():
            yield from _walk(item, (*path, keyword))


def _in_manifest(draft: Draft, path: Path, where: Path) -> Path:
    """Return where a part of the compiled schema stands in the manifest, which may leave out `properties`."""
    node = draft.tree.at(path)
    whole = node is not None and node.child("type") is not None and draft.body(*path).get("type") == "object"
    return (*path, *(where if whole or where[:1] != ("properties",) else where[1:]))


def _listed(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


RULES: Final = (
    Rule(
        code="args_schema",
        severity="error",
        demand="args is valid JSON Schema 2020-12.",
        mend="see the JSON Schema specification",
        check=_args_schema,
        refused=(
            "commands: {look: {cli: [tool], args: {n: {type: integr}}}}",
            "commands: {look: {cli: [tool], args: {n: {pattern: '('}}}}",
            "commands: {look: {cli: [tool], args: {n: {$ref: '#/$defs/none'}}}}",
            "commands: {look: {cli: [tool], args: {n: 5}}}",
            "commands: {look: {cli: [tool], args: {type: object, properties: [n]}}}",
        ),
        fine=(
            (
                "commands: {look: {cli: [tool], args: {type: object, properties: {n: {$ref: '#/$defs/n'}}, "
                "$defs: {n: {type: integer}}}}}"
            ),
            "commands: {look: {cli: [tool], args: {n: {type: string, x-secret: true}, m: true}}}",
        ),
    ),
    Rule(
        code="remote_ref",
        severity="error",
        demand="A reference in args stays inside the schema.",
        mend="write the schema out, or put it under $defs",
        check=_remote_ref,
        refused=(
            "commands: {look: {cli: [tool], args: {n: {$ref: 'https://x.example/n.json'}}}}",
            "commands: {look: {cli: [tool], args: {n: {anyOf: [{$ref: 'file:///etc/passwd'}]}}}}",
            "commands: {look: {cli: [tool], args: {n: {$dynamicRef: 'other.json#x'}}}}",
        ),
        fine=("commands: {look: {cli: [tool], args: {$ref: {type: string}, n: {$ref: '#/properties/$ref'}}}}",),
    ),
    Rule(
        code="other_dialect",
        severity="error",
        demand="$schema, where it is given, names JSON Schema 2020-12.",
        mend=f"remove $schema, or set it to {_DIALECT}",
        check=_other_dialect,
        refused=(
            (
                "commands: {look: {cli: [tool], args: {type: object, "
                "$schema: 'http://json-schema.org/draft-07/schema#'}}}"
            ),
        ),
        fine=(f"commands: {{look: {{cli: [tool], args: {{type: object, $schema: '{_DIALECT}'}}}}}}",),
    ),
    Rule(
        code="bad_arg_name",
        severity="error",
        demand="An arg's name is letters, digits, dashes and underscores, a letter or underscore first.",
        mend="rename it",
        check=_bad_arg_name,
        refused=(
            "commands: {look: {cli: [tool], args: {2nd: {type: string}}}}",
            "commands: {look: {cli: [tool], args: {type: object, properties: {a b: {type: string}}}}}",
        ),
        fine=("commands: {look: {cli: [tool], args: {_a-B2: {type: string}}}}",),
    ),
    Rule(
        code="control_arg",
        severity="error",
        demand='confirm and apply, where args declares them, are boolean, and mode does not hold "mock".',
        mend="set type: boolean; for mode choose another value or name",
        check=_control_arg,
        refused=(
            "commands: {look: {cli: [tool], args: {confirm: {type: string}}}}",
            "commands: {look: {cli: [tool], args: {apply: {}}}}",
            "commands: {look: {cli: [tool], args: {apply: {type: [boolean, string]}}}}",
            "commands: {look: {cli: [tool], args: {mode: {enum: [fast, mock]}}}}",
            "commands: {look: {cli: [tool], args: {mode: {anyOf: [{const: mock}, {const: fast}]}}}}",
            "commands: {look: {cli: [tool], args: {type: object, allOf: [{properties: {confirm: {}}}]}}}",
        ),
        fine=("commands: {look: {cli: [tool], args: {confirm: {type: boolean}, mode: {enum: [fast, slow]}}}}",),
    ),
    Rule(
        code="required_unknown",
        severity="error",
        demand="required names args that are declared; else the command could never be called.",
        mend="declare the arg, or take it out of required",
        check=_required_unknown,
        refused=("commands: {look: {cli: [tool], args: {name: {type: string}}, required: [nam]}}",),
        fine=(
            "commands: {look: {cli: [tool], args: {name: {type: string}}, required: [name]}}",
            "commands: {look: {args: {type: object, additionalProperties: true}, required: [x], cli: [a]}}",
        ),
    ),
)

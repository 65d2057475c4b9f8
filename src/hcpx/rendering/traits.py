"""What an args schema says of each arg, as far as rendering, messages and lint need it (Spec 02 section 1).

Where a schema cannot be followed the stricter answer is taken: texts only, no dash, a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

import msgspec

Schema = Mapping[str, object]
_REFERENCES: Final = ("$ref", "$dynamicRef")
_ASSERTED: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else")
_TEXT: Final = ("string", "null")
_NOWHERE: Final = object()


class Trait(msgspec.Struct, frozen=True):
    """One arg: whether its schema takes texts only, whether it may begin with `-`, whether it is secret."""

    string_only: bool = False
    allow_dash: bool = False
    secret: bool = False


PLAIN: Final = Trait()


def read_traits(schema: Schema) -> dict[str, Trait]:
    """Return the traits of every declared arg; one that is declared more than once gets the strictest."""
    return {
        name: Trait(
            string_only=any(_string_only(one, schema, ()) for one in declarations),
            allow_dash=all(_allows_dash(one, schema, ()) for one in declarations),
            secret=any(_secret(one, schema) for one in declarations),
        )
        for name, declarations in declared(schema).items()
    }


def declared(schema: Schema) -> dict[str, list[object]]:
    """Return each declared arg with its subschemas, those below `allOf`, `if` or a `$ref` at the root too."""
    found: dict[str, list[object]] = {}
    for one in _applied(schema, schema, set(), _ASSERTED):
        for name, subschema in _mapping(one.get("properties")).items():
            found.setdefault(name, []).append(subschema)
    return found


def named(schema: Schema) -> frozenset[str]:
    """Return every arg that the schema speaks of by its name, be it only to forbid it."""
    found: set[str] = set()
    for one in _applied(schema, schema, set(), (*_ASSERTED, "not")):
        for keyword in ("properties", "dependentRequired", "dependentSchemas"):
            found.update(_mapping(one.get(keyword)))
        found.update(name for name in _list(one.get("required")) if isinstance(name, str))
    return frozenset(found)


def text_takers(schema: Schema) -> dict[str, bool]:
    """Return for each declared arg whether its schema admits a text at all."""
    return {
        name: all(_admits_text(one, schema, ()) for one in declarations)
        for name, declarations in declared(schema).items()
    }


def _admits_text(node: object, root: Schema, seen: tuple[str, ...]) -> bool:
    if not isinstance(node, dict):
        return node is not False
    schema = cast("Schema", node)
    types = schema.get("type")
    if types is not None and "string" not in ([types] if isinstance(types, str) else _list(types)):
        return False
    if "const" in schema and not isinstance(schema["const"], str):
        return False
    if "enum" in schema and not any(isinstance(option, str) for option in _list(schema["enum"])):
        return False
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen = (*seen, reference)
        if not _admits_text(target(root, reference), root, seen):
            return False
    if not all(_admits_text(part, root, seen) for part in _list(schema.get("allOf"))):
        return False
    choices = [_list(schema.get(keyword)) for keyword in ("anyOf", "oneOf")]
    return all(not parts or any(_admits_text(part, root, seen) for part in parts) for parts in choices)


def _applied(node: object, root: Schema, seen: set[str], keywords: tuple[str, ...]) -> Iterator[Schema]:
    """Yield the schema and those below `keywords` that speak of the very same value."""
    schema = _mapping(node)
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        yield from _applied(target(root, reference), root, seen, keywords)
    parts = [schema[keyword] for keyword in keywords if keyword in schema]
    for part in (*parts, *_mapping(schema.get("dependentSchemas")).values()):
        for one in _list(part) or [part]:
            yield from _applied(one, root, seen, keywords)


def _string_only(node: object, root: Schema, seen: tuple[str, ...]) -> bool:
    """Tell whether the schema says that a value, unless null, must be a text."""
    if not isinstance(node, dict):
        return node is not True
    schema = cast("Schema", node)
    types = schema.get("type")
    if types is not None and all(one in _TEXT for one in ([types] if isinstance(types, str) else _list(types))):
        return True
    options = _list(schema.get("enum"))
    if isinstance(schema.get("const"), str) or (options and all(_is_text(option) for option in options)):
        return True
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen = (*seen, reference)
        if _string_only(target(root, reference), root, seen):
            return True
    if any(_string_only(part, root, seen) for part in _list(schema.get("allOf"))):
        return True
    choices = [_list(schema.get(keyword)) for keyword in ("anyOf", "oneOf")]
    return any(parts and all(_string_only(part, root, seen) for part in parts) for parts in choices)


def _allows_dash(node: object, root: Schema, seen: tuple[str, ...]) -> bool:
    schema = _mapping(node)
    reference = schema.get("$ref")
    if schema.get("x-allow-dash") is True or not isinstance(reference, str) or reference in seen:
        return schema.get("x-allow-dash") is True
    return _allows_dash(target(root, reference), root, (*seen, reference))


def _secret(node: object, root: Schema) -> bool:
    """Tell whether `x-secret: true` stands anywhere in the schema of an arg."""
    todo: list[object] = [node]
    seen: set[str] = set()
    while todo:
        one = todo.pop()
        if one is _NOWHERE or _mapping(one).get("x-secret") is True:
            return True
        todo.extend(_mapping(one).values())
        todo.extend(_list(one))
        for keyword in _REFERENCES:
            reference = _mapping(one).get(keyword)
            if isinstance(reference, str) and reference not in seen:
                seen.add(reference)
                todo.append(target(root, reference))
    return False


def target(root: Schema, reference: str) -> object:
    """Return what a `#/json/pointer` names in the schema, or an object that is no schema."""
    if not reference.startswith("#") or "%" in reference:
        return _NOWHERE
    node: object = root
    head, *segments = reference[1:].split("/")
    if head:
        return _NOWHERE
    for segment in segments:
        members = _mapping(node) or {str(place): item for place, item in enumerate(_list(node))}
        node = members.get(segment.replace("~1", "/").replace("~0", "~"), _NOWHERE)
    return node


def _mapping(node: object) -> Schema:
    return cast("Schema", node) if isinstance(node, dict) else {}


def _list(node: object) -> list[object]:
    return cast("list[object]", node) if isinstance(node, list) else []


def _is_text(option: object) -> bool:
    return option is None or isinstance(option, str)

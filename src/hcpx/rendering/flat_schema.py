"""The plain args schemas that most commands have, answered without loading the schema engine.

A yes is final, a no is not: it only means that the engine is to be asked. So a schema or a value that
this page does not know costs time and never the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import msgspec

_KINDS: Final[dict[str, frozenset[type]]] = {
    "string": frozenset({str}),
    "number": frozenset({int, float}),
    "integer": frozenset({int}),
    "boolean": frozenset({bool}),
    "array": frozenset({list}),
    "object": frozenset({dict}),
    "null": frozenset({type(None)}),
}
_NOTES: Final = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})


class FlatSchema(msgspec.Struct, frozen=True):
    """For each arg the Python types that it may have, and its texts where only some are allowed."""

    kinds: dict[str, frozenset[type]]
    options: dict[str, frozenset[str]]
    required: tuple[str, ...]
    closed: bool

    def accepts(self, args: Mapping[str, object]) -> bool:
        """Return true only where the args fit the schema beyond doubt."""
        for name in self.required:
            if name not in args:
                return False
        for name, value in args.items():
            kinds = self.kinds.get(name)
            if kinds is None:
                if self.closed:
                    return False
            elif type(value) not in kinds or (name in self.options and value not in self.options[name]):
                return False
        return True


def flat_schema(schema: Mapping[str, object]) -> FlatSchema | None:
    """Return the flat form of a schema, or None where it says anything that the form cannot hold."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    rest = schema.get("additionalProperties", True)
    if (
        schema.get("type") != "object"
        or not _only(schema, {"type", "properties", "required", "additionalProperties"})
        or not isinstance(properties, dict)
        or not isinstance(rest, bool)
        or not _texts(required)
    ):
        return None
    kinds: dict[str, frozenset[type]] = {}
    options: dict[str, frozenset[str]] = {}
    for name, subschema in cast("dict[str, object]", properties).items():
        if not isinstance(subschema, dict):
            return None
        one = cast("dict[str, object]", subschema)
        found = _kinds(one.get("type", list(_KINDS)))
        if found is None or not _only(one, {"type", "enum"}):
            return None
        if "enum" in one:
            if not _texts(one["enum"]):
                return None
            options[name] = frozenset(cast("list[str]", one["enum"]))
            found &= _KINDS["string"]
        kinds[name] = found
    return FlatSchema(kinds, options, tuple(cast("list[str]", required)), not rest)


def _only(schema: Mapping[str, object], keywords: set[str]) -> bool:
    return all(key in keywords or key in _NOTES or key.startswith("x-") for key in schema)


def _texts(value: object) -> bool:
    """Tell whether a value is a list of texts, no two alike."""
    if not isinstance(value, list):
        return False
    items = cast("list[object]", value)
    return all(isinstance(item, str) for item in items) and len(set(items)) == len(items)


def _kinds(types: object) -> frozenset[type] | None:
    names = [types] if isinstance(types, str) else types
    if not _texts(names) or not names or not _KINDS.keys() >= set(cast("list[str]", names)):
        return None
    return frozenset[type]().union(*(_KINDS[name] for name in cast("list[str]", names)))

"""References of a composite: `{$arg: name}` and `{$step: name, path: pointer}` (Spec 02 section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec


class Missing(msgspec.Struct, frozen=True):
    """A `$step` reference to a place that does not exist."""

    why: str


class _Absent:
    """Stands for an `$arg` that the caller did not give: what would hold it is left out."""


_ABSENT = _Absent()


def refers_to_steps(template: object) -> bool:
    """Tell whether a template holds a `$step` reference at any depth."""
    if isinstance(template, dict):
        fields = cast("dict[str, object]", template)
        return _is_step(fields) or any(refers_to_steps(item) for item in fields.values())
    if isinstance(template, list):
        return any(refers_to_steps(item) for item in cast("list[object]", template))
    return False


def filled(template: object, args: Mapping[str, object], results: Mapping[str, object]) -> object:
    """Return the template with references replaced by values, or `Missing`; values are not looked into."""
    try:
        value = _filled(template, args, results)
    except LookupError as nowhere:
        return Missing(str(nowhere.args[0]))
    return None if value is _ABSENT else value


def _filled(template: object, args: Mapping[str, object], results: Mapping[str, object]) -> object:
    if isinstance(template, list):
        items = (_filled(item, args, results) for item in cast("list[object]", template))
        return [None if item is _ABSENT else item for item in items]
    if not isinstance(template, dict):
        return template
    fields = cast("dict[str, object]", template)
    if _is_arg(fields):
        value = args.get(str(fields["$arg"]))
        return _ABSENT if value is None else value
    if _is_step(fields):
        return _from_step(str(fields["$step"]), str(fields.get("path", "")), results)
    members = ((name, _filled(item, args, results)) for name, item in fields.items())
    return {name: item for name, item in members if item is not _ABSENT}


def _is_arg(fields: Mapping[str, object]) -> bool:
    return set(fields) == {"$arg"}


def _is_step(fields: Mapping[str, object]) -> bool:
    return "$step" in fields and set(fields) <= {"$step", "path"}


def _from_step(name: str, pointer: str, results: Mapping[str, object]) -> object:
    if name not in results:
        raise LookupError(f"step {name} has no result yet")
    value = results[name]
    for part in pointer.split("/")[1:]:
        value = _member(value, part.replace("~1", "/").replace("~0", "~"), f"no {pointer} in the result of {name}")
    return value


def _member(value: object, key: str, otherwise: str) -> object:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        if key in fields:
            return fields[key]
    if isinstance(value, list):
        items = cast("list[object]", value)
        if key.isascii() and key.isdecimal() and (key == "0" or key[0] != "0") and int(key) < len(items):
            return items[int(key)]
    raise LookupError(otherwise)

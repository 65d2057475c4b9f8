"""Holds a manifest against the published schema, and says where it differs (Spec 02 section 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from hcpx.vocabulary.finding import Finding
from hcpx.vocabulary.text import nearest, shown

from .schema import Schema, pack_schema, resolved, under
from .yaml_nodes import MAX_MESSAGE, Entry, Node, Path

_KINDS: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def shape_findings(root: Node) -> list[Finding]:
    """Return every place where the document is not what the schema says; an empty list means that it fits."""
    return list(_node(root, pack_schema(), ()))


def dotted(path: Path) -> str:
    """Return a path as people write it: `policy.transfer`, `commands.list.cli[2]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the manifest"


def _node(node: Node, schema: Schema, path: Path) -> Iterator[Finding]:
    wrong = _wrong_type(node, schema)
    if wrong is not None:
        mend = f"{schema.get('description', 'see hcpx schema pack')}"
        if wrong == "a text" and _kind(node) in ("integer", "number", "boolean", "null"):
            mend = f"write it in quotes. {mend}"
        yield _at(node, "wrong_type", f"{dotted(path)} must be {wrong}, not {_kind_said(node)}", mend)
        return
    yield from _value(node, schema, path)
    if isinstance(node.value, dict):
        yield from _mapping(node, schema, path)
    elif isinstance(node.value, list):
        yield from _list(node, schema, path)


def _kind(node: Node) -> str:
    value = node.value
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    for type_, name in ((int, "integer"), (dict, "object"), (list, "array"), (str, "string")):
        if isinstance(value, type_):
            return name
    return "null"


def _kind_said(node: Node) -> str:
    return _KINDS["number" if isinstance(node.value, float) else _kind(node)]


def _wrong_type(node: Node, schema: Schema) -> str | None:
    """Return what was wanted where the node is of another type, or None."""
    wanted = schema.get("type")
    if wanted is None:
        return None
    names = cast("list[str]", wanted) if isinstance(wanted, list) else [cast("str", wanted)]
    kind = _kind(node)
    if kind in names or (kind == "integer" and "number" in names):
        return None
    return " or ".join(_KINDS[name] for name in names)


def _value(node: Node, schema: Schema, path: Path) -> Iterator[Finding]:
    """Check what a schema says of a single value."""
    value, about = node.value, str(schema.get("description", ""))
    code = str(schema.get("x-code", "bad_value"))
    if "const" in schema and not _same(value, schema["const"]):
        yield _at(node, code, f"{dotted(path)}: {_said(value)} is not {schema['const']}", about)
    choices = cast("list[str]", schema.get("enum", []))
    if choices and value not in choices:
        near = nearest(value, tuple(choices)) if isinstance(value, str) else None
        mend = f"did you mean {near}?" if near else about
        yield _at(node, code, f"{dotted(path)}: {_said(value)} is not one of {', '.join(choices)}", mend)
    if isinstance(value, str):
        fault = _text_fault(value, schema)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        fault = _number_fault(value, schema)
    else:
        fault = None
    if fault is not None:
        yield _at(node, code, f"{dotted(path)}: {fault}", about)


def _text_fault(value: str, schema: Schema) -> str | None:
    if len(value) < cast("int", schema.get("minLength", 0)):
        return "the text is empty"
    if len(value) > cast("int", schema.get("maxLength", len(value))):
        return f"the text has more than {schema['maxLength']} characters"
    pattern = schema.get("pattern")
    if pattern is not None and re.fullmatch(cast("str", pattern)[1:-1], value) is None:
        return f"{_said(value)} does not have the form that is asked for"
    return None


def _number_fault(value: float, schema: Schema) -> str | None:
    if value < cast("float", schema.get("minimum", value)):
        return f"{_said(value)} is less than {schema['minimum']}"
    if value > cast("float", schema.get("maximum", value)):
        return f"{_said(value)} is more than {schema['maximum']}"
    if "exclusiveMinimum" in schema and value <= cast("float", schema["exclusiveMinimum"]):
        return f"{_said(value)} is not more than {schema['exclusiveMinimum']}"
    return None


def _mapping(node: Node, schema: Schema, path: Path) -> Iterator[Finding]:
    entries = node.entries()
    for name in cast("list[str]", schema.get("required", [])):
        if name not in entries:
            about = cast("Schema", under(schema, name)).get("description", "")
            yield _at(node, "missing_key", f'the key "{name}" is missing in {dotted(path)}', f"add it. {about}")
    names = schema.get("propertyNames")
    for key, entry in entries.items():
        below = under(schema, key)
        if below is None:
            yield _unknown(key, entry, schema, path)
            continue
        if isinstance(names, dict):
            yield from _value(Node(key, entry.line, entry.column), resolved(cast("Schema", names)), (*path, key))
        yield from _node(entry.node, below, (*path, key))


def _list(node: Node, schema: Schema, path: Path) -> Iterator[Finding]:
    if len(node.items()) < cast("int", schema.get("minItems", 0)):
        yield _at(node, "bad_value", f"{dotted(path)}: the list is empty", str(schema.get("description", "")))
    below = schema.get("items")
    if isinstance(below, dict):
        for place, item in enumerate(node.items()):
            yield from _node(item, resolved(cast("Schema", below)), (*path, place))


def _unknown(key: str, entry: Entry, schema: Schema, path: Path) -> Finding:
    known = tuple(cast("dict[str, object]", schema.get("properties", {})))
    near = nearest(key, known)
    if key == "<<":
        mend = "YAML 1.2 has no merge keys: write the keys out"
    else:
        mend = f"did you mean {near}?" if near else f"known here: {', '.join(known)}"
    where = "" if not path else f" in {dotted(path)}"
    return _found("unknown_key", f'unknown key "{key}"{where}', mend, (entry.line, entry.column))


def _same(value: object, other: object) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _said(value: object) -> str:
    """Return a value as it may stand in a message."""
    if isinstance(value, str):
        return f'"{value[:80]}"'
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)[:80] if isinstance(value, (int, float)) else "this"


def _at(node: Node, code: str, message: str, mend: str) -> Finding:
    return _found(code, message, mend, (node.line, node.column))


def _found(code: str, message: str, mend: str, place: tuple[int, int]) -> Finding:
    shape_mend = mend or "see hcpx schema pack"
    return Finding(code, "error", shown(message[:MAX_MESSAGE]), shape_mend, line=place[0], column=place[1])

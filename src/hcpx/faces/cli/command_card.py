"""One command of a pack as a caller needs it: its args, what it demands, and the line that calls it."""

from __future__ import annotations

import json
from typing import Any, cast

from hcpx.vocabulary.denial import shell_quoted
from hcpx.vocabulary.pack import Command
from hcpx.vocabulary.policy import PolicyRow

Schema = dict[str, Any]


def card(pack_id: str, command: Command, row: PolicyRow) -> dict[str, object]:
    """Return all of it as a JSON value; `args_schema` is the whole JSON Schema of the args, null where none is."""
    return {
        "pack_id": pack_id,
        "verb_key": command.verb_key,
        "summary": command.summary,
        "description": command.description,
        "operation": row.operation,
        "confirm": row.confirm,
        "approvals": row.approvals,
        "binding": row.binding,
        "args_schema": _schema(command),
        "call": call_line(pack_id, command, row),
    }


def heading(pack_id: str, command: Command, row: PolicyRow) -> str:
    """Return what people read above the args."""
    demands = [row.operation]
    demands += ["confirm"] * row.confirm
    demands += [f"{row.approvals} approval(s)"] * bool(row.approvals)
    demands += [f"credential: {row.binding}"] * (row.binding != "public")
    lines = [f"{pack_id}.{command.verb_key}: {command.summary}", *filter(None, [command.description])]
    return "\n".join([*lines, ", ".join(demands), call_line(pack_id, command, row)])


def call_line(pack_id: str, command: Command, row: PolicyRow) -> str:
    """Return the line that calls it with the args that it must have."""
    pairs = [f"{shell_quoted(name)}=..." for name in _required(_schema(command))] + ["confirm=true"] * row.confirm
    words = f"hcpx exec {shell_quoted(pack_id)} {shell_quoted(command.verb_key)}"
    return f"{words} -- {' '.join(pairs)}" if pairs else words


def args(command: Command) -> list[dict[str, object]]:
    """Return a row for each arg that the command declares, those that it must have first."""
    schema = _schema(command)
    required = _required(schema)
    properties = cast("dict[str, object]", (schema or {}).get("properties") or {})
    rows = [_row(name, rule, required=name in required) for name, rule in properties.items()]
    return sorted(rows, key=lambda row: row["required"] == "")


def _row(name: str, rule: object, *, required: bool) -> dict[str, object]:
    found = cast("Schema", rule) if isinstance(rule, dict) else {}
    return {
        "arg": name,
        "value": _kind(found),
        "required": "yes" if required else "",
        "about": found.get("description", ""),
    }


def _schema(command: Command) -> Schema | None:
    return None if command.args_schema is None else cast("Schema", json.loads(command.args_schema))


def _required(schema: Schema | None) -> list[str]:
    return [name for name in (schema or {}).get("required", []) if name not in ("confirm", "apply", "mode")]


def _kind(rule: Schema) -> str:
    if "enum" in rule:
        return " | ".join(one if isinstance(one, str) else json.dumps(one) for one in rule["enum"])
    kind = rule.get("type", "any")
    return kind if isinstance(kind, str) else " | ".join(kind)

"""What changed between two versions of a pack, or what a first one asks for (Spec 02 section 3).

Pure: two compiled packs go in, a list of `Change` comes out, in the order in which a person should read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

import msgspec

from hcpx.vocabulary.change import Change, Part
from hcpx.vocabulary.denial import shell_quoted
from hcpx.vocabulary.pack import Command, Pack, Wrap
from hcpx.vocabulary.policy import Limits, PolicyRow
from hcpx.vocabulary.text import shown

_LONGEST: Final = 160
_NOTHING: Final = Pack(
    id="",
    version="",
    title="",
    kind="wrap",
    digest="",
    root="",
    commands={},
    policy={},
)


def changes(before: Pack | None, after: Pack) -> tuple[Change, ...]:
    """Return every difference that matters to whoever activates `after`; without `before`, all it asks for.

    Two packs of one digest have none. Of files that no other part names only changes are told.
    """
    old = before or _NOTHING
    if old.digest == after.digest:
        return ()
    found = (
        *_maps("pack", _about(old), _about(after)),
        *_maps("program", _program(old), _program(after)),
        *_maps("workspace", _one("mode", _wrap(old, "workspace")), _one("mode", _wrap(after, "workspace"))),
        *_maps("network", _listed(_wrap(old, "network")), _listed(_wrap(after, "network"))),
        *_maps("unsafe_env", _listed(_wrap(old, "unsafe_env")), _listed(_wrap(after, "unsafe_env"))),
        *_maps("agent_env", _env(old), _env(after)),
        *_maps("binding", _binding(old), _binding(after)),
        *_maps("local", _local(old), _local(after)),
        *_maps("command", _commands(old), _commands(after)),
        *_maps("policy", _rows(old), _rows(after)),
        *_maps("land", _lands(old), _lands(after)),
        *_maps("sense", msgspec.to_builtins(old.sense), msgspec.to_builtins(after.sense)),
        *_maps("skill", _skills(old), _skills(after)),
        *(_maps("file", _files(old), _files(after)) if before is not None else ()),
    )
    # Another digest is never passed over in silence.
    return found or tuple(_maps("pack", {"digest": old.digest}, {"digest": after.digest}))


def lines(found: tuple[Change, ...]) -> tuple[str, ...]:
    """Return the changes as plain lines for people, without control characters."""
    return tuple(change.text for change in found)


def _maps(part: Part, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Change]:
    """Compare two mappings from name to JSON value."""
    for name in (*before, *(name for name in after if name not in before)):
        if name not in after:
            yield Change(part, name, "removed", _line("-", part, name, before[name]), before=before[name])
        elif name not in before:
            yield Change(part, name, "added", _line("+", part, name, after[name]), after=after[name])
        elif before[name] != after[name]:
            text = _changed(part, name, before[name], after[name])
            yield Change(part, name, "changed", text, before[name], after[name])


def _line(sign: str, part: Part, name: str, value: object) -> str:
    said = "" if value is True else f": {_briefly(part, value)}"
    return f"{sign} {_TITLES[part]} {shown(name)}{said}"


def _changed(part: Part, name: str, before: object, after: object) -> str:
    head = f"~ {_TITLES[part]} {shown(name)}"
    whole = _pair(before, after)
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return f"{head}: {whole}"
    old, new = cast("dict[str, object]", before), cast("dict[str, object]", after)
    keys = (*old, *(key for key in new if key not in old))
    pairs = [f"{shown(key)} {_pair(old.get(key), new.get(key))}" for key in keys if old.get(key) != new.get(key)]
    return f"{head}: {'; '.join(pairs)}"


def _briefly(part: Part, value: object) -> str:
    """Say what a new command does, or a new row demands, in the fewest words; the rest is in `after`."""
    if not isinstance(value, dict):
        return _said(value)
    body = cast("dict[str, object]", value)
    if part == "command":
        tokens = cast("list[str]", body.get("cli", []))
        steps = [f"{one['pack_id']}.{one['verb_key']}" for one in cast("list[dict[str, str]]", body.get("steps", []))]
        return _cut(" ".join(shell_quoted(token) for token in tokens) or " > ".join(steps) or _said(body))
    if part == "policy":
        words = [str(body["operation"]), *(["confirm"] if body["confirm"] else [])]
        words += [f"{body['approvals']} approvals"] if body["approvals"] else []
        words += [f"binding {body['binding']}"] if body["binding"] != "public" else []
        words += [f"limits {_said(body['limits'])}"] if "limits" in body else []
        return ", ".join(words)
    return _said(body)


def _pair(before: object, after: object) -> str:
    """Say both values; of long ones the part in which they begin to differ."""
    old, new = _text(before), _text(after)
    alike = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, alike - _LONGEST // 2) if max(len(old), len(new)) > _LONGEST else 0
    mark = "..." if start else ""
    return f"{mark}{_cut(shown(old[start:]))} -> {mark}{_cut(shown(new[start:]))}"


_TITLES: Final[dict[Part, str]] = {
    "pack": "pack",
    "command": "command",
    "policy": "policy",
    "land": "land",
    "program": "program",
    "workspace": "workspace",
    "network": "network",
    "agent_env": "variable",
    "unsafe_env": "unsafe variable",
    "binding": "binding",
    "local": "of this machine",
    "sense": "sense",
    "skill": "skill",
    "file": "file",
}


def _said(value: object) -> str:
    return _cut(shown(_text(value)))


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, str) and re.fullmatch(r"(file|exec):[0-9a-f]{64}", value):
        return f"{value[:4]} {value[5:17]}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _about(pack: Pack) -> dict[str, object]:
    names = ("kind", "version", "title", "description", "homepage", "license")
    return {} if not pack.id else {name: getattr(pack, name) for name in names if getattr(pack, name)}


def _wrap(pack: Pack, field: str) -> object:
    return None if pack.wrap is None else msgspec.to_builtins(getattr(pack.wrap, field))


def _one(name: str, value: object) -> dict[str, object]:
    return {} if value is None else {name: value}


def _listed(value: object) -> dict[str, object]:
    """Return a list as a mapping, so that what came and what went shows one by one."""
    return {str(item): True for item in sorted(cast("list[str]", value or []))}


def _program(pack: Pack) -> dict[str, object]:
    """Return what is started: the name, what the pack's own file of that name holds, and how it is called."""
    program: dict[str, object] = {}
    wrap: Wrap | None = pack.wrap
    if wrap is not None:
        program["bin"] = wrap.bin
        look = _looks(pack).get(_own_file(wrap.bin))
        if look is not None:
            program["content of bin"] = look
        if wrap.argv_template is not None:
            program["argv_template"] = list(wrap.argv_template)
        program["json_flag"] = list(wrap.json_flag)
    for section in (pack.openapi, pack.mcp):
        program.update(section)
    return program


def _own_file(bin_: str) -> str:
    parts: list[str] = []
    for part in bin_.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _env(pack: Pack) -> Mapping[str, object]:
    return {} if pack.wrap is None else pack.wrap.agent_env


def _binding(pack: Pack) -> dict[str, object]:
    binding = pack.binding
    found: dict[str, object] = {f"env {name}": template for name, template in binding.env.items()}
    if binding.file is not None:
        found["file"] = msgspec.to_builtins(binding.file)
    return {**found, **{key: value for key, value in binding.proposals.items() if key != "local"}}


def _local(pack: Pack) -> dict[str, object]:
    local = cast("dict[str, object]", pack.binding.proposals.get("local", {}))
    files = {f"file {name}": True for name in cast("list[str]", local.get("files", []))}
    command = {"command": local["command"]} if "command" in local else {}
    return {**files, **command}


def _commands(pack: Pack) -> dict[str, object]:
    return {key: _command(command) for key, command in pack.commands.items()}


def _command(command: Command) -> object:
    """Return a command as it is written, texts of JSON as their values."""
    body = cast("dict[str, object]", msgspec.to_builtins(command))
    body.pop("verb_key")
    for key in ("args_schema", "mock", "output"):
        if isinstance(body.get(key), str):
            body[key] = json.loads(cast("str", body[key]))
    return body


def _rows(pack: Pack) -> dict[str, object]:
    return {key: _row(row) for key, row in pack.policy.items()}


def _row(row: PolicyRow) -> object:
    limits = {name: getattr(row.limits, name) for name in row.limits.asked} if row.limits != Limits() else {}
    return {
        "operation": row.operation,
        "confirm": row.confirm,
        "approvals": row.approvals,
        "binding": row.binding,
        "idempotent": row.idempotent,
        **({"limits": limits} if limits else {}),
    }


def _lands(pack: Pack) -> dict[str, object]:
    return {key: row.land for key, row in pack.policy.items() if row.land != "none"}


def _looks(pack: Pack) -> dict[str, str]:
    return cast("dict[str, str]", json.loads(pack.files))


def _skills(pack: Pack) -> dict[str, object]:
    looks = _looks(pack)
    return {skill.name: looks.get(skill.file, skill.description) for skill in pack.skills}


def _files(pack: Pack) -> dict[str, object]:
    """Return the files that no other part names."""
    named = {skill.file for skill in pack.skills}
    if pack.wrap is not None:
        named.add(_own_file(pack.wrap.bin))
    return {path: look for path, look in _looks(pack).items() if path not in named}

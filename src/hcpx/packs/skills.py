"""Skills of a pack: leads, full texts and files beside them, as the digest holds them (Spec 02 section 4)."""

from __future__ import annotations

import json
import os
from typing import Final, cast

from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.finding import MANIFEST
from hcpx.vocabulary.pack import Pack, Skill

from .files import inside

MAX_BYTES: Final = 1024 * 1024
_MAX_DESCRIPTION: Final = 1024


def leads(pack: Pack) -> tuple[Skill, ...]:
    """Return the leads of a pack's Skills; one without any gets one that is made from its commands."""
    return pack.skills or (Skill(pack.id, _generated_description(pack), ""),)


def full_text(pack: Pack, name: str | None = None) -> str | Denial:
    """Return the whole text of a Skill (of the first where no name is given), or `not_found`."""
    found = _named(pack, name)
    if isinstance(found, Denial):
        return found
    return _text(pack, found.file) if found.file else _generated_text(pack, found)


def file_beside(pack: Pack, name: str | None, file: str) -> str | Denial:
    """Return the text of a file beside that Skill, named from its folder, or `not_found`.

    Links are followed and stay below the pack. The manifest is no such file: `hcp.list` tells what it says.
    """
    found = _named(pack, name)
    if isinstance(found, Denial):
        return found
    if not file or file.startswith("/") or "\0" in file:
        return _missing(pack, file)
    return _text(pack, os.path.join(os.path.dirname(found.file), file))


def _named(pack: Pack, name: str | None) -> Skill | Denial:
    known = leads(pack)
    for skill in known:
        if name is None or skill.name == name:
            return skill
    return deny("not_found", what=f"the pack {pack.id} has no skill {name}")


def _text(pack: Pack, path: str) -> str | Denial:
    """Read a text file of the pack, and only as the pack's digest knows it."""
    real_root = os.path.realpath(pack.root)
    try:
        real = os.path.realpath(os.path.join(real_root, path))
    except (OSError, ValueError):
        return _missing(pack, path)
    inner = os.path.relpath(real, real_root)
    looks = cast("dict[str, str]", json.loads(pack.files))
    if not inside(real_root, real) or inner not in looks or inner == MANIFEST:
        return _missing(pack, path)
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return _missing(pack, path)
    if len(data) > MAX_BYTES:
        return deny("not_found", what=f"the file {path} of the pack {pack.id} is larger than 1 MiB")
    if not _is_content(looks[inner], data):
        return deny("pack_changed", pack_id=pack.id)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return deny("not_found", what=f"the file {path} of the pack {pack.id} is no text")


def _is_content(look: str, data: bytes) -> bool:
    import hashlib

    return look.partition(":")[2] == hashlib.sha256(data).hexdigest()


def _missing(pack: Pack, path: str) -> Denial:
    return deny("not_found", what=f"the pack {pack.id} has no file {path[:200]}")


def _generated_description(pack: Pack) -> str:
    commands = "; ".join(
        f"{key} ({command.summary})" if command.summary else key for key, command in pack.commands.items()
    )
    text = f"{pack.title}. {pack.description}".strip().rstrip(".") + f". Commands: {commands or 'none'}"
    return text if len(text) <= _MAX_DESCRIPTION else text[: _MAX_DESCRIPTION - 3] + "..."


def _generated_text(pack: Pack, skill: Skill) -> str:
    """Write a Skill from what the manifest says of the commands."""
    parts = [f"---\nname: {skill.name}\ndescription: {json.dumps(skill.description, ensure_ascii=False)}\n---\n"]
    parts.append(f"# {pack.title}\n")
    for key, command in pack.commands.items():
        row = pack.policy.get(key)
        demands = [] if row is None else [row.operation]
        if row is not None and row.confirm:
            demands.append("needs confirm: true")
        if row is not None and row.approvals:
            demands.append(f"needs {row.approvals} approvals")
        parts.append(f"## {key}\n\n{command.summary}\n")
        if command.description:
            parts.append(f"{command.description}\n")
        parts.append(f"{', '.join(demands)}\n")
        if command.args_schema is not None:
            schema = json.dumps(json.loads(command.args_schema), ensure_ascii=False, indent=2)
            parts.append(f"```json\n{schema}\n```\n")
    return "\n".join(parts)

"""Reads the lead of a Skill's Markdown file: frontmatter in the Agent Skills format (Spec 02 section 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from hcpx.vocabulary.finding import Finding, Severity
from hcpx.vocabulary.pack import Skill
from hcpx.vocabulary.text import nearest, shown

from .yaml_nodes import MAX_MESSAGE, Node, read_yaml

MAX_BYTES: Final = 1024 * 1024
MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1024
MAX_COMPATIBILITY: Final = 500

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FENCE: Final = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_KNOWN: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")


class SkillFile(msgspec.Struct, frozen=True):
    """What a Skill's file came to: its lead where it has one, and what is wrong with it."""

    skill: Skill | None
    findings: tuple[Finding, ...]


def read_skill(data: bytes, file: str) -> SkillFile:
    """Read the lead of a Skill; any bytes give a `SkillFile`, none an exception."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    fault = _outer_fault(data)
    if fault is not None:
        mend = "begin the file with ---, name:, description:, ---, in UTF-8 and at most 1 MiB"
        return SkillFile(None, (Finding("skill_malformed", "error", fault, mend, file),))
    start, end = (match.end() for match in list(_FENCE.finditer(data))[:2])
    head = data[start + 1 : data.rindex(b"---", start, end)]
    document = read_yaml(head, file)
    findings = [*document.findings]
    if document.root is not None:
        findings += _faults(document.root, file)
    moved = tuple(msgspec.structs.replace(one, line=one.line and one.line + 1) for one in findings)
    if document.root is None or any(one.severity == "error" for one in findings):
        return SkillFile(None, moved)
    name, description = (document.root.entries()[key].node.value for key in ("name", "description"))
    return SkillFile(Skill(str(name), str(description).strip(), file), moved)


def _outer_fault(data: bytes) -> str | None:
    if len(data) > MAX_BYTES:
        return "the Skill is larger than 1 MiB"
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return f"the Skill is not UTF-8 at byte {problem.start}"
    fences = list(_FENCE.finditer(data))[:2]
    if not fences or fences[0].start() != 0:
        return "the Skill does not begin with a line ---"
    return None if len(fences) > 1 else "the Skill's frontmatter has no end: a second line --- is missing"


def _faults(root: Node, file: str) -> Iterator[Finding]:
    if not isinstance(root.value, dict):
        yield _found(file, root, "the frontmatter is no mapping", "write name: and description:")
        return
    entries = root.entries()
    for key, entry in entries.items():
        if key not in _KNOWN:
            near = nearest(key, _KNOWN)
            mend = f"did you mean {near}?" if near else f"the Agent Skills format knows {', '.join(_KNOWN)}"
            what = f'unknown frontmatter key "{key}"'
            yield _found(file, Node(key, entry.line, entry.column), what, mend, "skill_key", "warning")
    for key in ("name", "description"):
        if key not in entries:
            yield _found(file, root, f'the key "{key}" is missing in the frontmatter', f"add {key}:")
    for key, why in _VALUES.items():
        node = root.child(key)
        if node is not None and not _fits(key, node.value):
            yield _found(file, node, f"{key}: {why}", f"write {key} so")


def _fits(key: str, value: object) -> bool:
    if key == "metadata":
        return isinstance(value, dict)
    if not isinstance(value, str):
        return False
    if key == "name":
        return len(value) <= MAX_NAME and _NAME.fullmatch(value) is not None
    most = {"description": MAX_DESCRIPTION, "compatibility": MAX_COMPATIBILITY}.get(key, len(value))
    return bool(value.strip()) and len(value) <= most


_VALUES: Final = {
    "name": "words of lower-case letters and digits joined by single dashes, at most 64 characters",
    "description": "a text of 1 to 1024 characters",
    "license": "a text",
    "compatibility": "a text of 1 to 500 characters",
    "metadata": "a mapping",
    "allowed-tools": "a text of tools with blanks between them",
}


def _found(
    file: str,
    node: Node,
    message: str,
    mend: str,
    code: str = "skill_malformed",
    severity: Severity = "error",
) -> Finding:
    return Finding(code, severity, shown(message[:MAX_MESSAGE]), mend, file, node.line, node.column)

"""A small sound pack, and manifests laid over its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from pathlib import Path

SOUND = """\
hcp: 1
id: demo
version: 1.0.0
title: A demo
kind: wrap
wrap: {bin: bin/tool}
commands:
  look: {summary: Look around, cli: [tool, look], args: {}}
policy:
  look: {operation: read}
skills: [SKILL.md]
"""
SKILL = """\
---
name: demo
description: How to look around with the demo.
---
# Demo
"""


def yaml(text: str) -> dict[str, object]:
    return cast("dict[str, object]", YAML(typ="safe", pure=True).load(text) or {})


def dumped(manifest: dict[str, object]) -> str:
    from io import StringIO

    out = StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # pyright: ignore[reportAttributeAccessIssue]
    writer.dump(manifest, out)
    return out.getvalue()


def laid_over(overlay: str) -> str:
    """The sound manifest with the top-level keys of `overlay`; a key without a value takes it out."""
    manifest = {**yaml(SOUND), **yaml(overlay)}
    return dumped({key: value for key, value in manifest.items() if value is not None})


def write_pack(folder: Path, manifest: str = SOUND, *, files: dict[str, str] | None = None) -> Path:
    """Write a pack directory: the manifest, a program, a Skill and its twin, and `files` beside them."""
    content = {
        "pack.yaml": manifest,
        "bin/tool": "#!/bin/sh\necho '{}'\n",
        "SKILL.md": SKILL,
        "COPY.md": SKILL,
    }
    for name, text in {**content, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "bin/tool").chmod(0o755)
    return folder

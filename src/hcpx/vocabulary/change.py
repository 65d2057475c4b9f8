"""What differs between two versions of a pack, for the person who activates it (Spec 02 section 3)."""

from __future__ import annotations

from typing import Literal

import msgspec

Part = Literal[
    "pack",
    "command",
    "policy",
    "land",
    "program",
    "workspace",
    "network",
    "agent_env",
    "unsafe_env",
    "binding",
    "local",
    "sense",
    "skill",
    "file",
]


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One difference: `name` says which command, variable or file; `before` or `after` is absent at its ends.

    `before` and `after` are JSON values. `text` is one line for people, without control characters.
    """

    part: Part
    name: str
    how: Literal["added", "removed", "changed"]
    text: str
    before: object = None
    after: object = None

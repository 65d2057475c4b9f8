"""Capabilities and grants, compared as tuples of exact strings (Spec 01 section 1)."""

from __future__ import annotations

from typing import Final

import msgspec

CAPABILITIES: Final = ("verb.exec.read", "verb.exec.write", "pack.connect", "verb.approve", "audit.read")
NEEDED: Final = {"read": "verb.exec.read", "write": "verb.exec.write", "connect": "pack.connect"}
ANY: Final = "*"


class Grant(msgspec.Struct, frozen=True, omit_defaults=True):
    """One right: a capability for exact packs and commands, or `*`; an empty list of commands covers nothing.

    `args_schema` is a JSON Schema text that the args must meet, `until` a Unix time in seconds;
    None is no bound.
    """

    capability: str
    pack_id: str
    verb_keys: tuple[str, ...]
    args_schema: str | None = None
    until: float | None = None

    def names(self, capability: str, pack_id: str, verb_key: str, now: float) -> bool:
        """Tell whether this grant is for that capability and command at that time, whatever the args."""
        return (
            self.capability == capability
            and self.pack_id in (ANY, pack_id)
            and (ANY in self.verb_keys or verb_key in self.verb_keys)
            and (self.until is None or now < self.until)
        )

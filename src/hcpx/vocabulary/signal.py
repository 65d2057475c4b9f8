"""Sense signals (Spec 06 section 4)."""

from __future__ import annotations

import msgspec


class Signal(msgspec.Struct, frozen=True):
    """One notice of the runtime: a badge, a credential state. `at` is Unix seconds, `ttl_s` seconds."""

    id: str
    at: float
    tenant: str
    pack_id: str
    key: str
    level: str
    text: str
    data: dict[str, object] = {}
    ttl_s: float | None = None

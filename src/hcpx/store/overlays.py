"""What an operator laid over the rows of a pack: it can only grow stricter (Spec 02 section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from hcpx.ports import Clock, StoreUnavailable
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.policy import Overlay

from . import queries
from .cache import Cache
from .database import Database

_overlay = msgspec.json.Decoder(Overlay)


class Overlays:
    """The overlays of a tenant."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._packs: Cache[tuple[str, str], Mapping[str, Overlay]] = Cache(database)

    def find(self, tenant: str, pack_id: str, verb_key: str) -> Overlay | None:
        """Return the overlay on that row, or None."""
        held = self._packs.current()
        key = (tenant, pack_id)
        overlays = held.get(key)
        if overlays is None:
            rows = self._database.all(queries.OVERLAYS_OF, key)
            overlays = held[key] = {verb: _read(text, f"{pack_id}.{verb}") for verb, text in rows}
        return overlays.get(verb_key)

    def list(self, tenant: str) -> Sequence[tuple[str, str, Overlay]]:
        """Return (pack, verb_key, overlay) of a tenant."""
        rows = self._database.all(queries.OVERLAYS, (tenant,))
        return [(pack_id, verb, _read(text, f"{pack_id}.{verb}")) for pack_id, verb, text in rows]

    def tighten(self, tenant: str, pack_id: str, verb_key: str, overlay: Overlay) -> Overlay:
        """Lay it over what is there, and return what now holds: of each part the stricter."""
        with self._database.changing():
            row = self._database.one(queries.OVERLAY, (tenant, pack_id, verb_key))
            held = overlay if row is None else stricter(_read(row[0], f"{pack_id}.{verb_key}"), overlay)
            text = encode(held).decode()
            self._database.run(queries.OVERLAY_PUT, (tenant, pack_id, verb_key, text, self._clock.now()))
        return held


def stricter(one: Overlay, other: Overlay) -> Overlay:
    """Return the overlay that asks for all that either asks for."""
    limits = dict(one.limits)
    for name, value in other.limits.items():
        limits[name] = min(value, limits.get(name, value))
    return Overlay(
        confirm=one.confirm or other.confirm,
        approvals=max(one.approvals, other.approvals),
        deny=one.deny or other.deny,
        limits=limits,
        # Side by side: within one document the references of each would lead astray.
        args_schema=tuple(dict.fromkeys((*one.schemas, *other.schemas))) or None,
    )


def _read(text: str, name: str) -> Overlay:
    try:
        return _overlay.decode(text)
    except msgspec.DecodeError:
        raise StoreUnavailable(f"the overlay on {name} cannot be read") from None

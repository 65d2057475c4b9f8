"""Sense signals in the store (Spec 06 section 4): numbered, newest kept, oldest dropped."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from hcpx.ports import StoreUnavailable
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.signal import Signal

from . import queries
from .database import Database, Row

MOST: Final = 10_000
"""How many signals of a tenant are kept."""
_DROP_EVERY: Final = 256


class Numbered(msgspec.Struct, frozen=True):
    """A signal with its number, by which a stream goes on where it broke off."""

    number: int
    signal: Signal


class SignalRows:
    """The port `SenseSink` over the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def emit(self, signal: Signal) -> None:
        """Keep a signal; where that is not possible it is lost, and nobody's call fails for it."""
        with suppress(StoreUnavailable), self._database.writing(durable=False):
            number = self._database.insert(
                queries.SIGNAL_ADD,
                (
                    signal.id,
                    signal.at,
                    signal.tenant,
                    signal.pack_id,
                    signal.key,
                    signal.level,
                    signal.text,
                    encode(signal.data).decode(),
                    signal.ttl_s,
                ),
            )
            if number % _DROP_EVERY == 0:
                self._database.run(queries.SIGNALS_DROP, (signal.tenant, signal.tenant, MOST))

    def after(self, tenant: str, number: int, limit: int = 100) -> Sequence[Numbered]:
        """Return the signals of a tenant behind that number, oldest first."""
        return [_read(row) for row in self._database.all(queries.SIGNALS_AFTER, (tenant, number, limit))]

    def newest(self, tenant: str, limit: int = 100) -> Sequence[Numbered]:
        """Return the newest signals of a tenant, newest first."""
        return [_read(row) for row in self._database.all(queries.SIGNALS_NEWEST, (tenant, limit))]

    def latest(self, tenant: str, pack_id: str, key: str) -> Numbered | None:
        """Return the latest signal of that pack and key, or None."""
        row = self._database.one(queries.SIGNAL_LATEST, (tenant, pack_id, key))
        return None if row is None else _read(row)


def _read(row: Row) -> Numbered:
    number, signal_id, at, tenant, pack_id, key, level, text, data, ttl_s = row
    facts: dict[str, object] = msgspec.json.decode(data)
    return Numbered(number, Signal(signal_id, at, tenant, pack_id, key, level, text, facts, ttl_s))

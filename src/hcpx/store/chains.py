"""The audit's rows: every chain is one range of one table, in the order of its records."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain as in_turn
from typing import TYPE_CHECKING, Final

from hcpx.ports.rows import ChainedRecord, ChainHead, OpenIntent

from . import queries
from .database import Database, Row

if TYPE_CHECKING:
    import sqlite3

_RANGE: Final = 1 << 40
"""How many records a chain has room for: `place` is the chain's number times this, plus the record's."""
_BLOCK: Final = 256
_REST_EVERY: Final = 32
_LAST_TIME: Final = "~"


class Chains:
    """The ports `ChainRows` and `ChainReader` over the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[str, int] = {}
        """The numbers of the chains, right within a transaction, since that reads the head first."""

    def head(self, tenant: str) -> ChainHead | None:
        """Return where the tenant's chain ends, or None where it has not begun."""
        row = self._database.one(queries.CHAIN, (tenant,))
        if row is None:
            self._numbers.pop(tenant, None)
            return None
        self._numbers[tenant] = row[0]
        return ChainHead(row[1], row[2])

    def append(self, tenant: str, link: ChainedRecord) -> None:
        """Store the next link; only inside a write transaction that has read the head."""
        number = self._numbers.get(tenant)
        if number is None:
            values = (tenant, link.seq, link.hash, link.at, link.at)
            number = self._numbers[tenant] = self._database.insert(queries.CHAIN_BEGIN, values)
        else:
            self._database.run(queries.CHAIN_MOVE, (link.seq, link.hash, link.at, number))
        place = number * _RANGE + link.seq
        self._database.run(queries.RECORD_ADD, (place, link.audit_id, link.at, link.hash, link.text))
        if link.seq % _BLOCK == 0:
            self._database.run(queries.BLOCK_ADD, (number,))
            self._database.run(queries.BLOCK_BEGIN, (number,))
        if link.seq % _REST_EVERY == 0:
            self._database.due = True

    def tenants(self) -> Sequence[str]:
        """Return every tenant that has a chain."""
        return [row[0] for row in self._database.all(queries.CHAINS)]

    @contextmanager
    def forward(self, tenant: str, last: int | None = None) -> Generator[tuple[ChainHead, Iterator[ChainedRecord]]]:
        """Walk a chain, or its `last` records, to its end, with the head that the store keeps beside it."""
        with self._database.snapshot() as sql:
            row = sql.execute(queries.CHAIN, (tenant,)).fetchone()
            if row is None:
                yield ChainHead(0, b""), iter(())
            else:
                first, end = _range(row[0])
                begin = first if last is None else max(first, first + row[1] - last + 1)
                cursor = sql.execute(queries.RECORDS_FORWARD, (begin, end))
                yield ChainHead(row[1], row[2]), map(_read, cursor)

    @contextmanager
    def backward(
        self, tenant: str, since: str | None = None, until: str | None = None
    ) -> Generator[Iterator[ChainedRecord]]:
        """Walk a chain from its newest record back; `since` and `until` bound `at`, both included."""
        with self._database.snapshot() as sql:
            row = sql.execute(queries.CHAIN, (tenant,)).fetchone()
            if row is None:
                yield iter(())
            elif since is None and until is None:
                yield map(_read, sql.execute(queries.RECORDS_BACKWARD, _range(row[0])))
            else:
                yield map(_read, _between(sql, row[0], since or "", until or _LAST_TIME))

    def of_call(self, audit_id: str) -> Sequence[tuple[str, ChainedRecord]]:
        """Return (tenant, record) of every record of one call, oldest first."""
        names = dict(self._database.all(queries.CHAIN_NAMES))
        rows = self._database.all(queries.RECORDS_OF_CALL, (audit_id,))
        return [(names.get(row[0] // _RANGE, ""), _read(row)) for row in rows]


class Intents:
    """The port `IntentRows` over the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, intent: OpenIntent) -> None:
        """Note an intent."""
        self._database.run(queries.INTENT_OPEN, (intent.tenant, intent.audit_id, intent.holder))

    def close(self, audit_id: str) -> None:
        """Forget an intent: its outcome is recorded."""
        self._database.run(queries.INTENT_CLOSE, (audit_id,))

    def waiting(self) -> Sequence[OpenIntent]:
        """Return the intents without an outcome, oldest first."""
        return [OpenIntent(*row) for row in self._database.all(queries.INTENTS)]


def _between(sql: sqlite3.Connection, number: int, since: str, until: str) -> Iterator[Row]:
    """Walk the records behind the last full block, then those of the blocks that hold such times."""
    first = number * _RANGE
    blocked = sql.execute(queries.BLOCK_LAST, (number,)).fetchone()[0] or 0
    tail = (first + blocked + 1, first + _RANGE - 1, since, until)
    return in_turn(
        sql.execute(queries.RECORDS_OF_TAIL, tail),
        sql.execute(queries.RECORDS_OF_BLOCKS, (number, first, since, until, _BLOCK)),
    )


def _range(number: int) -> tuple[int, int]:
    return number * _RANGE, (number + 1) * _RANGE - 1


def _read(row: Row) -> ChainedRecord:
    place, digest, text, audit_id, at = row
    return ChainedRecord(place % _RANGE, digest, text, audit_id, at)

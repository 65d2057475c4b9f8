"""Checks a chain in one pass and names the first break (Spec 06 section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from hcpx.ports import StoreUnavailable
from hcpx.ports.rows import ChainedRecord, ChainHead, ChainReader

from .chain import beginning, follows, is_whole, opening

Kind = Literal["changed", "missing", "reordered", "inserted", "unreadable"]


class Break(msgspec.Struct, frozen=True):
    """The first place where a chain does not hold: which record, and what happened to it."""

    seq: int
    kind: Kind
    message: str


class Verdict(msgspec.Struct, frozen=True):
    """What a check of one chain found; `records` is how many were checked and sound, up to the break."""

    tenant: str
    records: int
    broken: Break | None = None


def verify(reader: ChainReader, tenant: str, last: int | None = None) -> Verdict:
    """Check the chain of a tenant as it is at this moment, while others go on writing.

    With `last` only so many records at its end are checked, and the one before them is taken for true.
    """
    walk = _Walk(beginning(tenant))
    try:
        with reader.forward(tenant, None if last is None else last + 1) as (head, records):
            if last is not None and head.seq > last:
                walk.trust(records)
            broken = walk.through(records) or walk.at_the_end(head)
    except StoreUnavailable as problem:
        return Verdict(tenant, walk.seq, _break(walk.seq + 1, "unreadable", f"cannot be read: {problem}"))
    sound = walk.seq if broken is None else min(walk.seq, broken.seq - 1)
    return Verdict(tenant, max(sound - walk.trusted, 0), broken)


def verify_all(reader: ChainReader, last: int | None = None) -> Sequence[Verdict]:
    """Check every chain of the store, or the `last` records of each."""
    return [verify(reader, tenant, last) for tenant in reader.tenants()]


class _Walk:
    """Where a check stands: the number of the last sound record, its hash, and the hash before that."""

    def __init__(self, start: ChainHead) -> None:
        self.seq: int = start.seq
        self.last: bytes = start.hash
        self.before_last: bytes = b""
        self.trusted = 0

    def trust(self, records: Iterator[ChainedRecord]) -> None:
        """Begin behind the next record, which is taken for true."""
        record = next(records, None)
        if record is not None:
            self.seq, self.last, self.trusted = record.seq, record.hash, record.seq

    def through(self, records: Iterator[ChainedRecord]) -> Break | None:
        for record in records:
            if not follows(record, self.seq + 1, self.last):
                return self._named(record, records)
            self.seq, self.before_last, self.last = record.seq, self.last, record.hash
        return None

    def at_the_end(self, head: ChainHead) -> Break | None:
        if head.seq > self.seq:
            return _break(self.seq + 1, "missing", f"is missing, the chain had {head.seq} records")
        if head.seq < self.seq:
            return _break(head.seq + 1, "inserted", f"was inserted, the chain had {head.seq} records")
        if self.seq > 0 and head.hash != self.last:
            return _break(self.seq, "changed", "was changed: the chain ended with another one")
        return None

    def _named(self, record: ChainedRecord, rest: Iterator[ChainedRecord]) -> Break:
        """Say what happened at a record that does not follow the last sound one."""
        expected, at = self.seq + 1, opening(record.text)
        if record.seq != expected:
            return _break(expected, "missing", f"is missing: record {record.seq} comes next")
        if at is None or not is_whole(record):
            return _break(expected, "changed", "was changed: its text is not what was hashed")
        if at.seq > expected:
            return _displaced(expected, at.seq, rest)
        if at.seq < expected:
            inserted = self.seq if at.prev == self.before_last else expected
            return _break(inserted, "inserted", f"was inserted: number {at.seq} is there twice")
        if self.seq > 0:
            return _break(self.seq, "changed", f"was changed: record {expected} follows another one")
        return _break(expected, "changed", "was changed: it does not begin this tenant's chain")


def _displaced(expected: int, found: int, rest: Iterator[ChainedRecord]) -> Break:
    """Tell a missing record from one that stands elsewhere and from a stranger, by what comes later."""
    numbers = [at.seq for record in rest if (at := opening(record.text)) is not None]
    if expected not in numbers:
        return _break(expected, "missing", f"is missing: record {found} stands in its place")
    if found in numbers:
        return _break(expected, "inserted", f"was inserted: number {found} is there twice")
    return _break(expected, "reordered", f"was moved: record {found} stands in its place")


def _break(seq: int, kind: Kind, what: str) -> Break:
    return Break(seq, kind, f"record {seq} {what}")

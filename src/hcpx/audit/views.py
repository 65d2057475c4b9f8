"""The audit as people read it: one entry for each call, newest first (Spec 06 section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Final

import msgspec

from hcpx.ports.rows import ChainedRecord, ChainReader, IntentRows

from .process import Processes

Entry = dict[str, object]
"""A record's fields as they are stored, flat, without `prev`. Of a call without an outcome it is the intent,
with `running: true` while its process lives, else with `outcome: unknown` and `code: outcome_unknown`."""


class Filter(msgspec.Struct, frozen=True):
    """What to list; None is no bound. `since` and `until` bound `at`, RFC 3339 in UTC, both included."""

    since: str | None = None
    until: str | None = None
    principal: str | None = None
    pack_id: str | None = None
    verb_key: str | None = None
    decision: str | None = None
    outcome: str | None = None
    code: str | None = None
    limit: int | None = 50


_INTENT: Final = b'"kind":"intent"'
_OUTCOME: Final = b'"kind":"outcome"'
_HEAD: Final = 256
"""The kind stands within so many bytes: behind number, hash and id, in front of all that a caller wrote."""
_NOT_ON_DISK: Final = b'"code":"audit_unavailable"'
"""Ends a call whose intent could not be brought to disk: nothing was started."""
_FIELDS: Final = ("principal", "pack_id", "verb_key", "decision", "outcome", "code")


class AuditViews:
    """Lists, shows and exports the records of tenants."""

    def __init__(self, reader: ChainReader, intents: IntentRows, processes: Processes) -> None:
        self._reader = reader
        self._intents = intents
        self._processes = processes

    def list(
        self, tenants: Sequence[str], wanted: Filter, may_see: Callable[[Entry], bool] | None = None
    ) -> Sequence[Entry]:
        """Return the newest calls of these tenants that fit; within a tenant in the order of its chain.

        `may_see` leaves out what the reader has no right to; None leaves out nothing.
        """
        from heapq import merge
        from itertools import islice

        with ExitStack() as stack:
            walks = [
                self._entries(stack.enter_context(self._reader.backward(tenant, wanted.since, wanted.until)), wanted)
                for tenant in tenants
            ]
            newest = merge(*walks, key=_time, reverse=True)
            shown = newest if may_see is None else filter(may_see, newest)
            return list(islice(shown, wanted.limit))

    def show(self, audit_id: str) -> Entry | None:
        """Return a call with all its `records` (with their hashes), or None where it is not known."""
        found = self._reader.of_call(audit_id)
        if not found:
            return None
        entries = list(self._entries((record for _, record in reversed(found)), Filter()))
        if not entries:
            # It ended between two looks.
            return self.show(audit_id)
        records = [{**_fields(record), "hash": record.hash.hex()} for _, record in found]
        return {**entries[0], "tenant": found[0][0], "records": records}

    def unknown(self) -> Sequence[Entry]:
        """Return the calls that were begun by a process that is gone and whose outcome nobody recorded."""
        waiting = self._intents.waiting()
        gone = [one.audit_id for one in waiting if not self._processes.runs(one.holder, one.audit_id)]
        shown = [entry for audit_id in gone if (entry := self.show(audit_id)) is not None]
        return [entry for entry in shown if entry.get("outcome") == "unknown"]

    def export(self, tenant: str, since: str | None = None, until: str | None = None) -> Iterator[bytes]:
        """Yield a chain's lines as they are stored, oldest first: each hash is the `prev` of the next."""
        with self._reader.forward(tenant) as (_, records):
            for record in records:
                if (since is None or record.at >= since) and (until is None or record.at <= until):
                    yield record.text + b"\n"

    def _entries(self, newest_first: Iterator[ChainedRecord], wanted: Filter) -> Iterator[Entry]:
        """Yield the calls that fit: an outcome stands for its intent, which comes later on this walk."""
        ended: set[str] = set()
        needles = _needles(wanted)
        holders: Mapping[str, str] | None = None
        for record in newest_first:
            if _INTENT in record.text[:_HEAD]:
                if record.audit_id in ended:
                    ended.discard(record.audit_id)
                    continue
                holders = holders or {one.audit_id: one.holder for one in self._intents.waiting()}
                entry = self._unended(record, holders.get(record.audit_id))
            else:
                if _OUTCOME in record.text[:_HEAD] or _NOT_ON_DISK in record.text:
                    ended.add(record.audit_id)
                # Most records are left out by a look at their text, which is cheaper than to read it.
                entry = _entry(record) if all(needle in record.text for needle in needles) else None
            if entry is not None and _fits(entry, wanted):
                yield entry

    def _unended(self, intent: ChainedRecord, holder: str | None) -> Entry | None:
        """Return the entry of a call whose outcome this walk did not meet, None where it has one by now."""
        if holder is not None and self._processes.runs(holder, intent.audit_id):
            return {**_entry(intent), "running": True}
        if any(_INTENT not in record.text[:_HEAD] for _, record in self._reader.of_call(intent.audit_id)):
            return None
        return {**_entry(intent), "outcome": "unknown", "code": "outcome_unknown"}


def _needles(wanted: Filter) -> Sequence[bytes]:
    """Return what is in the text of every record that fits (and perhaps in that of some that do not)."""
    asked = ((field, getattr(wanted, field)) for field in _FIELDS)
    return [msgspec.json.encode({field: value})[1:-1] for field, value in asked if value is not None]


def _fields(record: ChainedRecord) -> Entry:
    return msgspec.json.decode(record.text)


def _entry(record: ChainedRecord) -> Entry:
    fields = _fields(record)
    fields.pop("prev", None)
    return fields


def _fits(entry: Entry, wanted: Filter) -> bool:
    return all((asked := getattr(wanted, field)) is None or entry.get(field) == asked for field in _FIELDS)


def _time(entry: Entry) -> str:
    return str(entry["at"])

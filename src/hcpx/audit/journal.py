"""What is recorded of a call, and what must be in one transaction with it (Spec 06 sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from hcpx.ports import AuditUnavailable, Clock, KeyUse, Replay, StoreUnavailable
from hcpx.ports.rows import (
    ApprovalUses,
    ChainHead,
    ChainRows,
    HeldKey,
    IntentRows,
    KeyRows,
    OpenIntent,
    StrangerRows,
    Transactions,
)
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.record import SYSTEM, AuditRecord

from .chain import beginning, body, link
from .process import Processes
from .sharing import Sharing

KEY_KEPT_S: Final = 24 * 3600.0
"""How long an idempotency key stands for its call."""
STRANGERS_MOST: Final = 60
STRANGERS_WINDOW_S: Final = 60.0
"""Of calls without a live session so many are recorded in so many seconds; the rest is counted."""


class JournalRows(msgspec.Struct, frozen=True):
    """The rows that the journal writes, all within one transaction."""

    transactions: Transactions
    chains: ChainRows
    intents: IntentRows
    keys: KeyRows
    approvals: ApprovalUses
    strangers: StrangerRows


class ChainedJournal:
    """The port `Journal`: one hash chain for each tenant.

    Where it `shares`, what reads and denials leave behind in a burst may wait for each other (Spec 06 section
    2); `flush` writes it at once. An intent or an outcome never waits, and goes behind what does.
    """

    def __init__(self, rows: JournalRows, clock: Clock, processes: Processes, *, shares: bool = False) -> None:
        self._rows = rows
        self._clock = clock
        self._processes = processes
        self._quick = rows.transactions.writing(durable=False)
        self._durable = rows.transactions.writing(durable=True)
        self._unrecorded = 0
        self._sharing: Sharing[AuditRecord] | None = Sharing(self._write) if shares else None

    def recall(self, use: KeyUse) -> Replay | Denial | None:
        """Look a key up: the recorded result, why it cannot be used, or None where it is free."""
        return self._held(use, self._clock.now())

    def _held(self, use: KeyUse, now: float) -> Replay | Denial | None:
        held = self._rows.keys.find(use)
        if held is None:
            return None
        running = held.result is None and self._processes.runs(held.holder, held.audit_id)
        if now - held.at >= KEY_KEPT_S and not running:
            return None
        if held.digest != use.digest:
            return deny("idempotency_conflict")
        if held.result is not None:
            return Replay(held.result)
        if running:
            return _in_use()
        return deny("outcome_unknown", step=4)

    def intend(self, intent: AuditRecord, approval_ids: tuple[str, ...], use: KeyUse | None) -> Denial | None:
        """Make the intent durable, use up the approvals and reserve the key, all or nothing."""
        text = body(intent)
        self.flush()
        # Before anybody can see the key: who finds it held by a call that does not run takes it for a crash.
        self._processes.begin(intent.audit_id)
        stands = False
        try:
            with self._durable:
                denial = self._intend(intent, text, approval_ids, use)
            stands = denial is None
        except StoreUnavailable as problem:
            raise AuditUnavailable(str(problem)) from problem
        finally:
            if not stands:
                self._processes.end(intent.audit_id)
        return denial

    def _intend(
        self, intent: AuditRecord, text: bytes, approval_ids: tuple[str, ...], use: KeyUse | None
    ) -> Denial | None:
        now = self._clock.now()
        mine = self._processes.mine()
        if use is not None:
            held = self._held(use, now)
            if held is not None:
                return held if isinstance(held, Denial) else _in_use()
        if approval_ids and not self._rows.approvals.use(approval_ids, intent.audit_id, now):
            return deny("approval_required")
        if use is not None:
            self._rows.keys.reserve(use, HeldKey(use.digest, intent.audit_id, mine, now))
        tenant = intent.attribution.tenant
        self._rows.intents.open(OpenIntent(tenant, intent.audit_id, mine))
        self._append(tenant, intent, text)
        return None

    def settle(
        self, record: AuditRecord, *, started: bool, use: KeyUse | None = None, result: bytes | None = None
    ) -> None:
        """Write the record that ends a call; an outcome is durable when this returns."""
        try:
            if record.kind == "outcome":
                self._settle_outcome(record, use, result, started=started)
            elif record.attribution.session is None:
                self._settle_stranger(record, body(record))
            elif self._sharing is not None:
                self._sharing.add(record)
            else:
                self._write((record,))
            self._rows.transactions.rest()
        except StoreUnavailable as problem:
            raise AuditUnavailable(str(problem)) from problem

    def _settle_outcome(self, record: AuditRecord, use: KeyUse | None, result: bytes | None, *, started: bool) -> None:
        try:
            self.flush()
            text = body(record)
            with self._durable:
                self._close(record, use, result if started else None, started=started)
                self._append(record.attribution.tenant, record, text)
        finally:
            # Not before: who finds the intent without an outcome meanwhile would take this for a crash.
            self._processes.end(record.audit_id)

    def flush(self) -> None:
        """Write what waits. Raises `AuditUnavailable`."""
        if self._sharing is None:
            return
        try:
            self._sharing.flush()
        except StoreUnavailable as problem:
            raise AuditUnavailable(str(problem)) from problem

    def _write(self, records: Sequence[AuditRecord]) -> None:
        texts = [body(record) for record in records]
        heads: dict[str, ChainHead] = {}
        with self._quick:
            for record, text in zip(records, texts, strict=True):
                tenant = record.attribution.tenant
                heads[tenant] = self._append(tenant, record, text, heads.get(tenant))

    def _close(self, record: AuditRecord, use: KeyUse | None, result: bytes | None, *, started: bool) -> None:
        self._rows.intents.close(record.audit_id)
        if not started:
            self._rows.approvals.give_back(record.audit_id)
        if use is not None and not (started and result is None):
            self._rows.keys.finish(use, record.audit_id, result)

    def _append(self, tenant: str, record: AuditRecord, text: bytes, head: ChainHead | None = None) -> ChainHead:
        """Append a record to its chain, behind `head` where this transaction knows it, and return the new one."""
        if head is None:
            head = self._rows.chains.head(tenant) or beginning(tenant)
        one = link(head, record, text)
        self._rows.chains.append(tenant, one)
        return ChainHead(one.seq, one.hash)

    def _settle_stranger(self, record: AuditRecord, text: bytes) -> None:
        """Record a call without a live session, so rarely that a flood of them fills no disk."""
        if self._is_flood(self._clock.now()):
            self._unrecorded += 1
            return
        unrecorded = self._unrecorded
        with self._quick:
            now = self._clock.now()
            since, recorded = self._rows.strangers.recorded()
            fresh = not 0 <= now - since < STRANGERS_WINDOW_S
            self._rows.strangers.count(now if fresh else since, 1 if fresh else recorded + 1)
            if unrecorded:
                count = msgspec.structs.replace(
                    record,
                    audit_id=self._clock.new_id("a"),
                    args={"unrecorded": unrecorded},
                    duration_ms=None,
                )
                self._append(SYSTEM, count, body(count))
            self._append(SYSTEM, record, text)
        self._unrecorded -= unrecorded

    def _is_flood(self, now: float) -> bool:
        since, recorded = self._rows.strangers.recorded()
        return recorded >= STRANGERS_MOST and 0 <= now - since < STRANGERS_WINDOW_S


def _in_use() -> Denial:
    return deny("busy", step=4, limit="the call that holds this idempotency_key has not ended")

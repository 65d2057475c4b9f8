"""Fills a store in bulk: `python -m bench.populate DATABASE PACKS GRANTS RECORDS`, run by hcpx's own Python.

The rows are those that the command line would have written, by the store's own statements and the audit's own
chain, only faster. What is there counts: the store ends up with so many packs, grants and audit records.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice

from bench.commands import SEED_PACK
from hcpx.audit.chain import beginning, body, link
from hcpx.ports import ChainHead
from hcpx.store import queries
from hcpx.vocabulary.record import Attribution, AuditRecord

RANGE = 1 << 40  # records a chain has room for (hcpx.store.chains)
BATCH = 50_000
KEYS = ("verb.exec.read", "verb.exec.write", "pack.connect")
OWN_SHARE = 3  # one grant in so many is the owner's own


def main(path: str, packs: int, grants: int, records: int) -> None:
    """Fill, in transactions of a size that memory holds."""
    with closing(sqlite3.connect(path, isolation_level=None)) as sql:
        sql.execute("PRAGMA synchronous=OFF")
        session, tenant, principal = sql.execute(
            "SELECT id, tenant, principal FROM sessions WHERE kind = 'owner'"
        ).fetchone()
        with_packs(sql, tenant, session, packs)
        with_grants(sql, tenant, principal, grants)
        with_records(sql, tenant, principal, session, records)
        sql.execute(queries.COUNT_CHANGE)
        sql.execute("ANALYZE")
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def with_packs(sql: sqlite3.Connection, tenant: str, session: str, wanted: int) -> None:
    """Copy the seed pack under other ids, each active on the owner's session."""
    there = sql.execute("SELECT count(*) FROM packs").fetchone()[0]
    row = sql.execute(queries.PACK, (tenant, SEED_PACK)).fetchone()
    sql.execute("BEGIN")
    for number in range(there, wanted):
        pack_id = f"bulk-{number}"
        compiled = row[7].replace(SEED_PACK.encode(), pack_id.encode())
        sql.execute(queries.PACK_PUT, (*row[:1], pack_id, *row[2:7], compiled, row[8]))
        sql.execute(queries.ACTIVATE, (session, pack_id, row[4], row[8]))
    sql.execute("COMMIT")


def with_grants(sql: sqlite3.Connection, tenant: str, principal: str, wanted: int) -> None:
    """Give grants for those packs, some to the owner, the rest to a thousand others."""
    there = sql.execute("SELECT count(*) FROM grants").fetchone()[0]
    now = time.time()
    sql.execute("BEGIN")
    for number in range(1000):
        sql.execute(queries.PRINCIPAL_ADD, (tenant, f"user:bulk{number}", now))
    for number in range(there, wanted):
        who = principal if number % OWN_SHARE == 0 else f"user:bulk{number % 1000}"
        values = (tenant, who, KEYS[number % len(KEYS)], f"bulk-{number // len(KEYS)}", '["*"]', None, None)
        sql.execute(queries.GRANT_ADD, (*values, now))
    sql.execute("COMMIT")


def with_records(sql: sqlite3.Connection, tenant: str, principal: str, session: str, wanted: int) -> None:
    """Append to the tenant's chain until it holds so many records."""
    row = sql.execute(queries.CHAIN, (tenant,)).fetchone()
    if row is None:
        number, head = None, beginning(tenant)
    else:
        number, head = row[0], ChainHead(row[1], row[2])
    entries = islice(_entries(tenant, principal, session), max(0, wanted - head.seq))
    while batch := list(islice(entries, BATCH)):
        sql.execute("BEGIN")
        for entry in batch:
            one = link(head, entry, body(entry))
            head = ChainHead(one.seq, one.hash)
            if number is None:
                number = sql.execute(queries.CHAIN_BEGIN, (tenant, one.seq, one.hash)).lastrowid or 0
            place = number * RANGE + one.seq
            sql.execute(queries.RECORD_ADD, (place, one.audit_id, one.at, one.hash, one.text))
        sql.execute(queries.CHAIN_MOVE, (head.seq, head.hash, number))
        sql.execute("COMMIT")
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _entries(tenant: str, principal: str, session: str) -> Iterator[AuditRecord]:
    """Reads of the seed pack, one a second up to now, their ids in the order of time."""
    digest = "0" * 64
    number = 0
    began = time.time() - 3_500_000
    while True:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(began + number))
        yield AuditRecord(
            audit_id=f"a_{number:026d}",
            kind="entry",
            attribution=Attribution(
                at,
                tenant,
                principal,
                None,
                "human",
                session,
                None,
                SEED_PACK,
                digest,
                "look",
                "read",
                "public",
                None,
                None,
                digest,
            ),
            decision="allowed",
            outcome="ok",
            args={},
            argv_digest=digest,
            exit_code=0,
            duration_ms=1.25,
            output_sizes={"stdout": 0, "stderr": 0},
            sandbox="native-local",
        )
        number += 1


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:5]))

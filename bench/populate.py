"""Fills a store in bulk: `python -m bench.populate HOME PACKS GRANTS RECORDS`, run by hcpx's own Python.

Packs and grants are rows that the command line would have written, by the store's own statements; records go
through the store's own chain, many a transaction. The store ends up with so many of each.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from bench.commands import DATABASE, SEED_PACK
from hcpx.audit.chain import beginning, body, link
from hcpx.ports.rows import ChainHead
from hcpx.store import queries
from hcpx.store.chains import Chains
from hcpx.store.database import Database
from hcpx.vocabulary.record import Attribution, AuditRecord

BATCH = 1_000
KEYS = ("verb.exec.read", "verb.exec.write", "pack.connect")
OWN_SHARE = 3  # one grant in so many is the owner's own
OTHERS = 1_000


def main(home: str, packs: int, grants: int, records: int) -> None:
    """Fill; the owner's session has every pack active."""
    with closing(sqlite3.connect(Path(home) / DATABASE, isolation_level=None)) as sql:
        sql.execute("PRAGMA synchronous=OFF")
        session, tenant, principal = sql.execute(
            "SELECT id, tenant, principal FROM sessions WHERE kind = 'owner'"
        ).fetchone()
        with_packs(sql, tenant, session, packs)
        with_grants(sql, tenant, principal, grants)
        sql.execute(queries.COUNT_CHANGE)
    with closing(Database.open(home)) as database:
        with_records(database, tenant, principal, session, records)


def with_packs(sql: sqlite3.Connection, tenant: str, session: str, wanted: int) -> None:
    """Copy the seed pack under other ids, each active on the owner's session."""
    there = sql.execute("SELECT count(*) FROM packs").fetchone()[0]
    row = sql.execute(queries.PACK, (tenant, SEED_PACK)).fetchone()
    sql.execute("BEGIN")
    for number in range(there, wanted):
        pack_id = f"bulk-{number}"
        compiled = row[7].replace(SEED_PACK.encode(), pack_id.encode())
        sql.execute(queries.PACK_PUT, (row[0], pack_id, *row[2:7], compiled, row[8]))
        sql.execute(queries.ACTIVATE, (session, pack_id, row[4], row[8]))
    sql.execute("COMMIT")


def with_grants(sql: sqlite3.Connection, tenant: str, principal: str, wanted: int) -> None:
    """Give grants for those packs, some to the owner, the rest to others."""
    there = sql.execute("SELECT count(*) FROM grants").fetchone()[0]
    now = time.time()
    sql.execute("BEGIN")
    for number in range(OTHERS):
        sql.execute(queries.PRINCIPAL_ADD, (tenant, f"user:bulk{number}", now))
    for number in range(there, wanted):
        who = principal if number % OWN_SHARE == 0 else f"user:bulk{number % OTHERS}"
        values = (tenant, who, KEYS[number % len(KEYS)], f"bulk-{number // len(KEYS)}", '["*"]', None, None)
        sql.execute(queries.GRANT_ADD, (*values, now))
    sql.execute("COMMIT")


def with_records(database: Database, tenant: str, principal: str, session: str, wanted: int) -> None:
    """Append to the tenant's chain until it holds so many records."""
    chains = Chains(database)
    head = chains.head(tenant) or beginning(tenant)
    entries = islice(_entries(tenant, principal, session), max(0, wanted - head.seq))
    while batch := list(islice(entries, BATCH)):
        with database.writing(durable=False):
            chains.head(tenant)
            for entry in batch:
                one = link(head, entry, body(entry))
                chains.append(tenant, one)
                head = ChainHead(one.seq, one.hash)
        database.rest()


def _entries(tenant: str, principal: str, session: str) -> Iterator[AuditRecord]:
    """Reads of the seed pack, one a second, their ids in the order of time."""
    digest = "0" * 64
    began = int(time.time()) - 4_000_000
    number = 0
    while True:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(began + number))
        yield AuditRecord(
            audit_id=f"a_{number:026d}",
            kind="entry",
            attribution=Attribution(
                at=at,
                tenant=tenant,
                principal=principal,
                actor=None,
                invoker="human",
                session=session,
                project=None,
                pack_id=SEED_PACK,
                pack_digest=digest,
                verb_key="look",
                operation="read",
                binding_family="public",
                credential_id=None,
                request_id=None,
                envelope_digest=digest,
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

"""Every call of a burst is in the audit: for readers of the same process, after a close, after an exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from hcpx.audit import sharing
from hcpx.audit.journal import ChainedJournal, JournalRows
from hcpx.audit.verify import verify_all
from hcpx.audit.views import Filter
from hcpx.runtime import Runtime
from hcpx.store.strangers import Strangers
from tests.store.world import TENANT, World, attribution, intent, record

BURST = 40
UNCLOSED = f"""
from hcpx import Hcp
hcp = Hcp.open()
for _ in range({BURST}):
    assert hcp.exec("hcp-cli", "hcp.list").ok
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HCP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def burst(runtime: Runtime) -> list[str]:
    call = {"pack_id": "hcp-cli", "verb_key": "hcp.list"}
    return [str(runtime.execute(call, token=None, face="api").audit_id) for _ in range(BURST)]


def recorded(runtime: Runtime) -> list[str]:
    assert [verdict.broken for verdict in runtime.books.verify()] == [None]
    entries = runtime.books.audit.list(["local"], Filter(limit=None))
    return [str(entry["audit_id"]) for entry in reversed(entries)]


@pytest.mark.usefixtures("home")
def test_a_reader_of_the_same_process_sees_every_call_in_order() -> None:
    runtime = Runtime.open(create_missing=True, lasting=True)
    try:
        made = burst(runtime)
        assert recorded(runtime) == made
    finally:
        runtime.close()


@pytest.mark.usefixtures("home")
def test_closing_writes_what_waits() -> None:
    runtime = Runtime.open(create_missing=True, lasting=True)
    made = burst(runtime)
    runtime.close()
    later = Runtime.open()
    try:
        assert recorded(later) == made
    finally:
        later.close()


@pytest.mark.usefixtures("home")
def test_a_process_that_never_closes_its_store_leaves_every_record() -> None:
    subprocess.run([sys.executable, "-c", UNCLOSED], check=True, timeout=60)
    later = Runtime.open()
    try:
        assert len(recorded(later)) == BURST
    finally:
        later.close()


@pytest.fixture
def journal(world: World, monkeypatch: pytest.MonkeyPatch) -> ChainedJournal:
    """A journal that shares commits, and writes what waits when the test says so."""
    monkeypatch.setattr(sharing, "PATIENCE_S", 3600.0)
    rows = JournalRows(
        world.database, world.chains, world.intents, world.keys, world.approvals, Strangers(world.database)
    )
    return ChainedJournal(rows, world.clock, world.processes, shares=True)


def chain(world: World, tenant: str) -> list[str]:
    with world.chains.forward(tenant) as (_, records):
        return [one.audit_id for one in records]


def test_one_commit_may_begin_several_chains(journal: ChainedJournal, world: World) -> None:
    other = msgspec.structs.replace(attribution(), tenant="globex")
    journal.settle(record("a_1"), started=True)
    journal.settle(record("a_2", whose=other), started=True)
    journal.settle(record("a_3", whose=other), started=True)
    journal.settle(record("a_4"), started=True)
    journal.flush()
    assert {tenant: chain(world, tenant) for tenant in world.chains.tenants()} == {
        TENANT: ["a_1", "a_4"],
        "globex": ["a_2", "a_3"],
    }
    assert [verdict.broken for verdict in verify_all(world.chains)] == [None, None]


def test_an_intent_goes_behind_what_waits(journal: ChainedJournal, world: World) -> None:
    for audit_id in ("a_1", "a_2"):
        journal.settle(record(audit_id), started=True)
    assert journal.intend(intent("a_3"), (), None) is None
    assert chain(world, TENANT) == ["a_1", "a_2", "a_3"]

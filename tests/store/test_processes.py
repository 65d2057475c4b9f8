"""Many processes on one store: killed, locked out, without space or the right to write (field troubles H)."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections import Counter
from contextlib import closing, contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest

from hcpx.audit.verify import verify_all
from hcpx.audit.views import Filter
from hcpx.ports import AuditUnavailable, StoreUnavailable
from hcpx.store.create import create
from hcpx.store.database import Database
from hcpx.store.health import health
from hcpx.vocabulary.capability import Grant
from tests.store.processes import finished, said, started
from tests.store.world import ADA, TENANT, TurnedClock, World, attribution, intent, made, outcome, record, use

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path


def told(lines: list[str]) -> dict[str, list[str]]:
    """What was acknowledged, by kind."""
    kinds: dict[str, list[str]] = {}
    for line in lines:
        kind, _, name = line.partition(" ")
        kinds.setdefault(kind, []).append(name)
    return kinds


def holds(world: World, lines: list[str]) -> None:
    """All that was acknowledged is in the store, once, and the store is sound."""
    kinds = told(lines)
    assert [verdict.broken for verdict in verify_all(world.chains)] == [None] * len(world.chains.tenants())
    assert health(world.database, thorough=True).problem is None
    with world.chains.forward(TENANT) as (_, records):
        chained = Counter((record.audit_id, b'"kind":"intent"' in record.text) for record in records)
    for audit_id in kinds.get("read", []):
        assert chained[audit_id, False] == 1
    for audit_id in kinds.get("start", []):
        assert chained[audit_id, True] == 1
    for audit_id in kinds.get("write", []):
        assert chained[audit_id, False] == 1
        held = world.keys.find(use(audit_id))
        assert held is not None
        assert held.result == b'{"ok":true}'
    assert max(chained.values(), default=1) == 1
    live = {row.id for row in world.sessions.list(TENANT) if row.activations == {"ledger": "d"}}
    assert live.issuperset(kinds.get("session", []))
    granted = Counter(row.principal for row in world.grants.list(TENANT))
    assert all(granted[principal] == 1 for principal in kinds.get("grant", []))


@pytest.mark.slow
def test_eight_processes_that_exec_and_change_the_store_lose_and_duplicate_nothing(
    home: Path, clock: TurnedClock
) -> None:
    world = made(home, clock)
    lines = finished([started(home, "everything", 25) for _ in range(8)])
    kinds = dict.fromkeys(("read", "start", "write", "session", "grant"), 200)
    assert Counter(line.split()[0] for line in lines) == kinds
    holds(world, lines)
    assert len(world.sessions.list(TENANT)) == 201
    assert world.database.changes() == 400
    assert world.intents.waiting() == []
    world.database.close()


@pytest.mark.slow
def test_processes_killed_at_any_moment_leave_a_store_that_remembers_what_was_acknowledged(
    home: Path, clock: TurnedClock
) -> None:
    chance = random.Random(6)
    made(home, clock).database.close()
    lines: list[str] = []
    for _ in range(12):
        process = started(home, "everything", 0)
        assert process.stdout is not None
        lines.extend(process.stdout.readline().strip() for _ in range(chance.randrange(1, 40)))
        process.kill()
        lines.extend(line for line in process.stdout.read().splitlines(keepends=False) if " " in line)
        process.wait()
        process.communicate()
    with closing(Database.open(str(home))) as database:
        world = World(database, clock)
        holds(world, lines)
        started_ids, ended = set(told(lines)["start"]), set(told(lines)["write"])
        unknown = {str(entry["audit_id"]) for entry in world.views.unknown()}
        assert started_ids - ended <= unknown | {str(entry["audit_id"]) for entry in outcomes(world)}
        assert not unknown & ended


def outcomes(world: World) -> list[dict[str, object]]:
    entries = world.views.list([TENANT], Filter(limit=None))
    return [entry for entry in entries if entry["kind"] == "outcome"]


def test_a_call_whose_process_was_killed_is_shown_as_unknown_and_its_key_says_so(world: World, home: Path) -> None:
    process = started(home, "begin", 1)
    audit_id = said(process, "start")
    (running,) = world.views.list([TENANT], Filter())
    assert (running["audit_id"], running.get("running"), running.get("outcome")) == (audit_id, True, None)
    assert world.views.unknown() == []
    busy = world.journal.recall(use())
    assert getattr(busy, "code", None) == "busy"
    process.kill()
    process.communicate()
    (gone,) = world.views.list([TENANT], Filter(outcome="unknown"))
    assert (gone["audit_id"], gone.get("running"), gone["code"]) == (audit_id, None, "outcome_unknown")
    assert [entry["audit_id"] for entry in world.views.unknown()] == [audit_id]
    unknown = world.journal.recall(use())
    assert (getattr(unknown, "code", None), getattr(unknown, "step", None)) == ("outcome_unknown", 4)
    refused = world.journal.intend(intent("a_again"), (), use())
    assert getattr(refused, "code", None) == "outcome_unknown"


def test_a_call_that_ends_while_others_look_is_shown_once(world: World, home: Path) -> None:
    process = started(home, "begin", 1)
    audit_id = said(process, "start")
    process.communicate("")
    (ended,) = world.views.list([TENANT], Filter())
    assert (ended["audit_id"], ended["outcome"]) == (audit_id, "ok")


def test_a_writer_waits_for_another_process_and_then_goes_on(world: World, home: Path) -> None:
    holder = started(home, "hold", 1)
    said(holder, "held")
    waiting = [started(home, "write", 1) for _ in range(3)]
    ended = threading.Event()
    threading.Thread(target=lambda: (finished(waiting), ended.set())).start()
    assert world.settings.all() == {}, "who only reads waits for nobody"
    assert not ended.is_set()
    holder.communicate("")
    ended.wait()
    assert len(outcomes(world)) == 3


@pytest.mark.slow
def test_a_writer_that_waits_in_vain_is_refused_with_the_way_out(world: World, home: Path) -> None:
    holder = started(home, "hold", 1)
    said(holder, "held")
    with pytest.raises(AuditUnavailable, match=r"held by another process for more than 10 s; see which: fuser"):
        world.journal.intend(intent("a_1"), (), None)
    holder.communicate("")
    assert world.views.list([TENANT], Filter()) == []
    assert world.journal.intend(intent("a_1"), (), None) is None


# --- no space, no right to write ----------------------------------------------------------------------------


@contextmanager
def no_file_over(size: int) -> Generator[None]:
    """No file of this process may grow beyond that many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fill(world: World) -> str:
    """Write until that is refused, and return the words."""
    for number in range(10_000):
        try:
            grant = Grant("verb.exec.read", "ledger", ("*",), f'{{"title": "{"x" * 2000}"}}')
            world.grants.add(TENANT, f"user:u{number}", grant)
        except StoreUnavailable as problem:
            return str(problem)
    raise AssertionError("it never ended")


def write_without_end(world: World) -> None:
    for number in count(1):
        world.journal.intend(intent(f"a_{number}"), (), use(f"k{number}"))


def full_store_decides_by_what_it_held(world: World) -> None:
    """Nothing half-made is there: the last grants are whole, a write is refused before anything runs."""
    held = [row.principal for row in world.grants.list(TENANT)]
    assert sorted(held) == sorted(f"user:u{number}" for number in range(len(held)))
    assert [row.id for row in world.principals.list(TENANT)] == sorted([ADA, *held])
    with pytest.raises(AuditUnavailable):
        write_without_end(world)
    assert [verdict.broken for verdict in verify_all(world.chains)] == [None] * len(world.chains.tenants())


def test_beyond_a_limit_on_file_sizes_a_change_is_refused_and_nothing_is_half_made(
    world: World,
) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with no_file_over(400_000):
        assert "limit on file sizes" in fill(world)
        full_store_decides_by_what_it_held(world)
    world.settings.put("a", "v")
    world.journal.settle(record("a_last"), started=True)
    assert [verdict.broken for verdict in verify_all(world.chains)] == [None] * len(world.chains.tenants())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a disk")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=2m", "none", disk], check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.root
def test_on_a_full_disk_a_change_is_refused_and_the_old_store_decides(small_disk: Path, clock: TurnedClock) -> None:
    world = made(small_disk / "home", clock)
    assert "no space is left" in fill(world)
    full_store_decides_by_what_it_held(world)
    world.database.close()
    with closing(Database.open(str(small_disk / "home"))) as database:
        World(database, clock).sessions.owner()


@pytest.mark.root
def test_a_store_is_not_half_made_on_a_full_disk(small_disk: Path, clock: TurnedClock) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 2_000_000)
    with pytest.raises(StoreUnavailable, match="no space"):
        create(str(small_disk / "home"), TENANT, ADA, clock)
    assert list((small_disk / "home").iterdir()) == []
    (small_disk / "ballast").unlink()
    create(str(small_disk / "home"), TENANT, ADA, clock)


@pytest.mark.root
def test_a_read_only_store_is_read_and_refuses_every_write(small_disk: Path, clock: TurnedClock) -> None:
    world = made(small_disk / "home", clock)
    world.grants.add(TENANT, ADA, Grant("verb.exec.read", "ledger", ("*",)))
    world.database.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    read_only_store_refuses(small_disk / "home", clock)


@pytest.mark.skipif(os.geteuid() == 0, reason="no file is read-only to root")
def test_a_store_without_the_right_to_write_is_read_and_refuses_every_write(home: Path, clock: TurnedClock) -> None:
    world = made(home, clock)
    world.grants.add(TENANT, ADA, Grant("verb.exec.read", "ledger", ("*",)))
    world.database.close()
    for file in home.iterdir():
        file.chmod(0o400)
    home.chmod(0o500)
    try:
        read_only_store_refuses(home, clock)
    finally:
        home.chmod(0o700)


def read_only_store_refuses(home: Path, clock: TurnedClock) -> None:
    with closing(Database.open(str(home))) as database:
        world = World(database, clock)
        assert len(world.live_grants.naming(TENANT, ADA, "verb.exec.read", "ledger")) == 1
        with pytest.raises(AuditUnavailable, match="read-only"):
            world.journal.intend(intent("a_1"), (), None)
        with pytest.raises(AuditUnavailable, match="read-only"):
            world.journal.settle(record("a_2"), started=True)
        with pytest.raises(StoreUnavailable, match="read-only"):
            world.settings.put("a", "v")
        assert world.views.list([TENANT], Filter()) == []


def test_a_clock_that_was_set_back_changes_neither_chain_nor_order(world: World) -> None:
    for number, hour in enumerate(("12", "11", "10", "13"), 1):
        whose = attribution(at=f"2026-12-01T{hour}:00:00.000Z")
        world.clock.turn(-3600)
        world.journal.settle(record(f"a_{number}", whose=whose), started=True)
    assert [verdict.broken for verdict in verify_all(world.chains)] == [None]
    assert [entry["audit_id"] for entry in world.views.list([TENANT], Filter())] == [
        "a_4",
        "a_3",
        "a_2",
        "a_1",
    ]
    since = Filter(since="2026-12-01T11:00:00.000Z")
    assert [entry["audit_id"] for entry in world.views.list([TENANT], since)] == ["a_4", "a_2", "a_1"]


# --- durability ---------------------------------------------------------------------------------------------


def syncs(home: Path, what: str, times: int, into: Path) -> list[str]:
    """The trace of a worker: `sync` for each one, else what it said."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    before = [strace, "-f", "-qq", "-o", str(into), "-e", "trace=fdatasync,fsync,write", "-e", "signal=none"]
    finished([started(home, what, times, before)])
    seen: list[str] = []
    for line in into.read_text().splitlines():
        if "sync(" in line:
            seen.append("sync")
        elif 'write(1, "' in line:
            seen.append(line.partition('write(1, "')[2].split(" ")[0])
    return seen


def test_a_write_costs_one_sync_before_its_adapter_and_one_before_its_answer(
    home: Path, clock: TurnedClock, tmp_path: Path
) -> None:
    made(home, clock).database.close()
    each = ["sync", "start", "sync", "write"]
    assert syncs(home, "write", 3, tmp_path / "trace") == each * 3
    assert syncs(home, "write", 1, tmp_path / "trace") == each, "the next process finds the log as it needs it"


def test_a_read_costs_no_sync(home: Path, clock: TurnedClock, tmp_path: Path) -> None:
    made(home, clock).database.close()
    assert syncs(home, "read", 5, tmp_path / "trace") == ["read"] * 5


def test_no_sync_stands_between_an_intent_and_its_adapter_when_the_log_was_emptied(
    home: Path, clock: TurnedClock, tmp_path: Path
) -> None:
    made(home, clock).database.close()
    seen = syncs(home, "write", 40, tmp_path / "trace")
    calls = " ".join(seen).split(" write")[:-1]
    assert len(calls) == 40
    assert {call.split(" start")[0].split().count("sync") for call in calls} <= {1}
    assert max(call.count("sync") for call in calls) > 2, "the log was never emptied"


def test_what_could_not_be_synced_makes_the_process_refuse_every_further_write(world: World) -> None:
    world.settings.put("a", "v")
    connection = next(iter(world.database._connections.values()))
    reading, writing = os.pipe()
    log, connection._wal = connection._wal, reading
    for text in (
        "invalid argument; what was written may be lost",
        "invalid argument; what was written may be lost",
    ):
        with pytest.raises(AuditUnavailable, match=text):
            world.journal.intend(intent("a_1"), (), None)
    connection._wal = log
    with pytest.raises(AuditUnavailable, match="may be lost"):
        world.journal.intend(intent("a_2"), (), None)
    world.journal.settle(record("a_3"), started=True)
    os.close(reading)
    os.close(writing)


def test_a_store_keeps_its_log_when_the_last_process_ends_and_sqlite_alone_reads_it(
    home: Path, clock: TurnedClock
) -> None:
    world = made(home, clock)
    world.journal.intend(intent("a_1"), (), None)
    world.journal.settle(outcome("a_1"), started=True)
    world.database.close()
    with closing(sqlite3.connect(home / "hcpx.db")) as sql:
        assert sql.execute("SELECT count(*) FROM audit").fetchone() == (2,)

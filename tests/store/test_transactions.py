"""Transactions: all or nothing, one writer at a time, counted where an owner's change must be noticed."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hcpx.store import queries
from hcpx.store.errors import Refused
from tests.store.world import World, again

if TYPE_CHECKING:
    from hcpx.store.database import Changing, Database, Writing


def put(database: Database, name: str, value: object = "v") -> None:
    database.run(queries.SETTING_PUT, (name, value))


def log_size(world: World) -> int:
    return Path(f"{world.database.path}-wal").stat().st_size


def broken(block: Writing | Changing, database: Database) -> None:
    with block:
        put(database, "half")
        raise KeyError


@pytest.mark.parametrize("durable", [False, True])
def test_an_exception_in_a_block_undoes_it(world: World, durable: bool) -> None:
    with pytest.raises(KeyError):
        broken(world.database.writing(durable=durable), world.database)
    assert world.settings.all() == {}
    with world.database.writing(durable=durable):
        put(world.database, "b")
    assert world.settings.all() == {"b": "v"}


def test_a_change_is_counted_and_a_failed_one_is_not(world: World) -> None:
    before = world.database.changes()
    with world.database.changing():
        put(world.database, "a")
    assert world.database.changes() == before + 1
    with pytest.raises(KeyError):
        broken(world.database.changing(), world.database)
    assert (world.database.changes(), world.settings.all()) == (before + 1, {"a": "v"})
    with world.database.writing(durable=True):
        put(world.database, "c")
    assert world.database.changes() == before + 1


def test_a_write_outside_of_a_block_or_a_block_in_a_block_is_a_bug(world: World) -> None:
    with pytest.raises(RuntimeError, match="outside"):
        put(world.database, "a")
    with world.database.writing(durable=False), pytest.raises(RuntimeError, match="within"):
        world.database.begin(durable=False)
    assert world.settings.all() == {}


@pytest.mark.parametrize("value", ["\ud800", 2**63])
def test_a_value_that_fits_into_no_row_is_refused(world: World, value: object) -> None:
    with pytest.raises(Refused), world.database.writing(durable=False):
        put(world.database, "a", value)
    with pytest.raises(Refused):
        world.database.one(queries.SESSION, (value,))
    with pytest.raises(Refused):
        world.database.all(queries.SESSION, (value,))


def test_threads_write_one_after_the_other_and_lose_nothing(world: World) -> None:
    def write(number: int) -> None:
        for turn in range(50):
            with world.database.writing(durable=False):
                row = world.database.one("SELECT value FROM settings WHERE name = 'sum'")
                put(world.database, "sum", str(int(row[0]) + 1 if row else 1))
                put(world.database, f"{number}-{turn}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.settings.all()["sum"] == "400"
    assert len(world.settings.all()) == 401


def test_a_snapshot_does_not_see_what_is_written_after_it(world: World) -> None:
    other = again(world)
    with world.database.snapshot() as sql:
        other.settings.put("a", "v")
        world.settings.put("b", "v")
        assert sql.execute("SELECT count(*) FROM settings").fetchone() == (0,)
    assert world.settings.all() == {"a": "v", "b": "v"}
    other.database.close()


def test_a_fork_uses_none_of_its_parents_connections(world: World) -> None:
    world.settings.put("parent", "before")
    world.database.begin(durable=False)
    put(world.database, "parent", "during")
    child = os.fork()
    if child == 0:
        try:
            # The parent is the writer now: with its connection a child would be in its transaction.
            seen = world.settings.all()
            os._exit(0 if seen == {"parent": "before"} else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    world.database.end(commit=True, durable=False)
    second = os.fork()
    if second == 0:
        try:
            world.settings.put("child", "after")
            os._exit(0)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(second, 0)[1]) == 0
    assert world.settings.all() == {"parent": "during", "child": "after"}


def test_the_log_is_emptied_now_and_then_and_does_not_grow_without_end(world: World) -> None:
    for _ in range(3000):
        with world.database.writing(durable=False):
            world.database.run(queries.BEGIN_LOG)
        world.database.rest()
    assert log_size(world) < 3 * 1024 * 1024


def test_a_log_that_a_reader_let_grow_large_is_cut_when_the_reader_is_gone(world: World) -> None:
    with world.database.snapshot():
        for sign in "0123456789":
            world.settings.put("big", sign * 1_000_000)
        assert log_size(world) > 8_000_000
    for _ in range(300):
        with world.database.writing(durable=False):
            world.database.run(queries.BEGIN_LOG)
        world.database.rest()
    assert log_size(world) < 3_000_000
    assert len(world.settings.all()["big"]) == 1_000_000

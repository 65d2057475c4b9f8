"""Spec 06 section 1: migrations run forward, in a transaction, after a backup; a newer store is refused."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from hcpx.ports import StoreUnavailable
from hcpx.store.database import Database
from hcpx.store.migrations import SHIPPED, Migrations
from tests.store.world import ADA, TENANT, TurnedClock, World, made

SECOND = """
-- A comment; with a semicolon.
CREATE TABLE more (n INTEGER, text TEXT DEFAULT ';');
INSERT INTO more (n) SELECT count(*) FROM principals;
"""


def with_second(folder: Path, text: str = SECOND) -> Migrations:
    """The shipped migrations and one more."""
    first = Path(SHIPPED.folder, SHIPPED.files[0])
    (folder / "0001_first.sql").write_text(first.read_text())
    (folder / "0002_second.sql").write_text(text)
    return Migrations(str(folder), ("0001_first.sql", "0002_second.sql"))


@pytest.fixture
def old(home: Path, clock: TurnedClock) -> Path:
    """The folder of a store of schema 1, with a session in it."""
    world = made(home, clock)
    world.token()
    world.database.close()
    return home


def backups(home: Path) -> list[Path]:
    return sorted(home.glob("*.backup"))


def test_an_older_store_is_backed_up_and_brought_forward(old: Path, tmp_path: Path) -> None:
    known = with_second(tmp_path)
    with closing(Database.open(str(old), known)) as database:
        assert database.schema() == 2
        assert database.one("SELECT n, text FROM more") == (1, ";")
        assert database.one("SELECT count(*) FROM sessions") == (2,)
    (backup,) = backups(old)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as sql:
        assert sql.execute("PRAGMA user_version").fetchone() == (1,)
        assert sql.execute("SELECT count(*) FROM sessions").fetchone() == (2,)
    Database.open(str(old), known).close()
    assert backups(old) == [backup]


def test_the_backup_put_back_is_the_old_store(old: Path, tmp_path: Path, clock: TurnedClock) -> None:
    Database.open(str(old), with_second(tmp_path)).close()
    for file in old.glob("hcpx.db-*"):
        file.unlink()
    backups(old)[0].rename(old / "hcpx.db")
    with closing(Database.open(str(old))) as database:
        assert len(World(database, clock).sessions.list(TENANT)) == 2


def test_a_newer_store_is_refused_and_left_as_it_is(old: Path, tmp_path: Path) -> None:
    Database.open(str(old), with_second(tmp_path)).close()
    with pytest.raises(StoreUnavailable, match=r"newer hcpx \(schema 2, this one knows 1\); upgrade hcpx"):
        Database.open(str(old))
    assert len(backups(old)) == 1


@pytest.mark.parametrize("broken", ["CREATE TABLE tenants (id);", "INSERT INTO nowhere VALUES (1);"])
def test_a_migration_that_fails_leaves_the_old_store(old: Path, tmp_path: Path, broken: str) -> None:
    with pytest.raises(StoreUnavailable):
        Database.open(str(old), with_second(tmp_path, SECOND + broken))
    with closing(Database.open(str(old))) as database:
        assert database.schema() == 1
        assert database.one("SELECT count(*) FROM sqlite_master WHERE name = 'more'") == (0,)


def test_of_many_who_bring_a_store_forward_at_once_one_does(old: Path, tmp_path: Path) -> None:
    known, start, found = with_second(tmp_path), threading.Barrier(4), list[object]()

    def open_it() -> None:
        start.wait()
        with closing(Database.open(str(old), known)) as database:
            found.append(database.one("SELECT count(*) FROM more"))

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(1,)] * 4
    assert len(backups(old)) == 1


def test_every_shipped_migration_is_there_and_makes_what_the_store_expects(old: Path) -> None:
    names = sorted(path.name for path in Path(SHIPPED.folder).glob("*.sql"))
    assert list(SHIPPED.files) == names
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    with closing(Database.open(str(old))) as database:
        assert database.schema() == SHIPPED.latest
        assert database.one("SELECT principal FROM sessions WHERE kind = 'owner'") == (ADA,)

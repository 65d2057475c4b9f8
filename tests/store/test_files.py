"""A store's files: made only on purpose, private, and left alone where they are not what they should be."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from hcpx.ports import StoreUnavailable
from hcpx.store.create import create, exists
from hcpx.store.database import Database
from hcpx.store.errors import Exists, Refused, StoreDamaged, StoreMissing
from hcpx.store.health import health
from tests.store.world import ADA, TENANT, TurnedClock, World, made


@pytest.fixture
def file(home: Path, clock: TurnedClock) -> Path:
    """The database of a store that nobody has open, with everything in that one file."""
    create(str(home), TENANT, ADA, clock)
    with closing(sqlite3.connect(home / "hcpx.db")) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return home / "hcpx.db"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_store_is_closed_to_everybody_else(home: Path, clock: TurnedClock) -> None:
    previous = os.umask(0)
    try:
        world = made(home, clock)
        world.token()
    finally:
        os.umask(previous)
    assert mode(home) == 0o700
    assert {path.name: mode(path) for path in home.iterdir()} == {
        "hcpx.db": 0o600,
        "hcpx.db-wal": 0o600,
        "hcpx.db-shm": 0o600,
    }
    world.database.close()


def test_opening_makes_nothing(home: Path, tmp_path: Path) -> None:
    for folder in (home, tmp_path):
        with pytest.raises(StoreMissing, match="there is no store in"):
            Database.open(str(folder))
    assert exists(str(home)) is False
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_made_once(home: Path, clock: TurnedClock, file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(Exists):
        create(str(home), "globex", "user:grace", clock)
    assert file.read_bytes() == before


def test_of_many_who_make_a_store_at_once_one_does(home: Path, clock: TurnedClock) -> None:
    start, ends = threading.Barrier(6), list[str]()

    def make(number: int) -> None:
        start.wait()
        try:
            create(str(home), TENANT, f"user:u{number}", clock)
            ends.append("made")
        except Exists:
            ends.append("exists")

    threads = [threading.Thread(target=make, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["exists"] * 5 + ["made"]
    with closing(Database.open(str(home))) as database:
        assert database.one("SELECT count(*) FROM principals") == (1,)
    assert [path.name for path in home.iterdir() if "new" in path.name] == []


def test_what_a_killed_maker_left_is_removed_by_the_next_one(home: Path, clock: TurnedClock) -> None:
    home.mkdir(mode=0o700)
    with subprocess.Popen(["true"]) as gone:
        pass
    left = [f"hcpx.db.new-{gone.pid}-aa", f"hcpx.db.new-{gone.pid}-aa-journal"]
    kept = [f"hcpx.db.new-{os.getppid()}-bb", "hcpx.db.new-note", f"hcpx.db.new-{10**30}-cc"]
    for name in (*left, *kept):
        (home / name).touch()
    create(str(home), TENANT, ADA, clock)
    assert sorted(path.name for path in home.iterdir() if "new" in path.name) == sorted(kept)


@pytest.mark.parametrize(("tenant", "principal"), [("null", ADA), ("A", ADA), (TENANT, "ada"), (TENANT, "")])
def test_a_store_of_nobody_is_refused_before_a_folder_is_made(
    home: Path, clock: TurnedClock, tenant: str, principal: str
) -> None:
    with pytest.raises(Refused):
        create(str(home), tenant, principal, clock)
    assert not home.exists()


def test_an_empty_folder_is_closed_to_others_when_a_store_is_made_in_it(home: Path, clock: TurnedClock) -> None:
    home.mkdir(mode=0o755)
    create(str(home), TENANT, ADA, clock)
    assert mode(home) == 0o700


def test_a_folder_that_others_may_enter_is_refused_with_the_way_out(home: Path, clock: TurnedClock) -> None:
    home.mkdir(mode=0o755)
    (home / "note").touch()
    with pytest.raises(StoreUnavailable, match=f"chmod 700 {home}$"):
        create(str(home), TENANT, ADA, clock)
    assert [path.name for path in home.iterdir()] == ["note"]


@pytest.mark.parametrize(("name", "bits", "repair"), [("", 0o755, "700"), ("hcpx.db", 0o640, "600")])
def test_what_was_opened_to_others_is_refused_until_it_is_closed(
    home: Path, file: Path, name: str, bits: int, repair: str
) -> None:
    path = home / name
    path.chmod(bits)
    with pytest.raises(StoreUnavailable, match=f"chmod {repair} {path}$"):
        Database.open(str(home))
    path.chmod(int(repair, 8))
    Database.open(str(home)).close()
    assert file.exists()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["", "hcpx.db"])
def test_a_store_of_another_user_is_refused_even_to_root(home: Path, file: Path, name: str) -> None:
    os.chown(home / name, 12345, -1)
    with pytest.raises(StoreUnavailable, match="belongs to another user"):
        Database.open(str(home))
    assert file.exists()


def test_a_linked_database_is_refused(home: Path, file: Path, tmp_path: Path) -> None:
    shutil.move(file, tmp_path / "elsewhere.db")
    file.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StoreUnavailable, match="is a link"):
        Database.open(str(home))


def test_a_linked_log_is_refused(home: Path, file: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    Path(f"{file}-wal").unlink(missing_ok=True)
    Path(f"{file}-wal").symlink_to(tmp_path / "victim")
    with pytest.raises(StoreUnavailable):
        Database.open(str(home))
    assert (tmp_path / "victim").read_bytes() == b"precious"


def test_a_folder_behind_a_link_is_that_folder(home: Path, file: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    with closing(Database.open(str(tmp_path / "link"))) as database:
        assert database.path == str(file)


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_plain_file_is_refused_without_waiting(home: Path, file: Path, kind: str) -> None:
    file.unlink()
    if kind == "folder":
        file.mkdir(mode=0o700)
    else:
        os.mkfifo(file, 0o600)
    with pytest.raises(StoreUnavailable, match="not a plain file"):
        Database.open(str(home))


def test_a_home_that_is_a_file_is_refused(home: Path, clock: TurnedClock) -> None:
    home.touch()
    with pytest.raises(StoreUnavailable, match="not a folder"):
        Database.open(str(home))
    with pytest.raises(StoreUnavailable, match="not a folder"):
        create(str(home), TENANT, ADA, clock)


def garbled(content: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "cut in the header": content[:50],
        "cut behind the first page": content[:4096],
        "no database": b"#!/bin/sh\n" + content,
        "zeros": bytes(len(content)),
        "pages overwritten": content[:4096] + b"\xa5" * (len(content) - 4096),
        "tables overwritten": content[:100] + b"\0" * 3996 + content[4096:],
    }


@pytest.mark.parametrize("how", sorted(garbled(b"")))
def test_a_damaged_store_is_refused_and_left_as_it_is(home: Path, file: Path, clock: TurnedClock, how: str) -> None:
    file.write_bytes(garbled(file.read_bytes())[how])
    for leftover in home.glob("hcpx.db-*"):
        leftover.unlink()
    before = file.read_bytes()
    with pytest.raises(StoreDamaged, match=r"is damaged \(.*\) and was left as it is; keep a copy"):
        made_again(home, clock)
    assert file.read_bytes() == before


def made_again(home: Path, clock: TurnedClock) -> None:
    with closing(Database.open(str(home))) as database:
        World(database, clock).sessions.list(TENANT)


def test_a_damaged_store_is_no_empty_one(home: Path, file: Path, clock: TurnedClock) -> None:
    file.write_bytes(b"")
    with pytest.raises(Exists):
        create(str(home), TENANT, ADA, clock)


def test_another_programs_database_is_refused(home: Path, file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA journal_mode=WAL")
        sql.execute("CREATE TABLE bookmarks (url)")
    file.chmod(0o600)
    before = file.read_bytes()
    with pytest.raises(StoreDamaged, match="not of hcpx"):
        Database.open(str(home))
    assert file.read_bytes() == before


def test_a_store_that_was_taken_out_of_wal_mode_is_refused_with_the_way_out(home: Path, file: Path) -> None:
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA journal_mode=DELETE")
    with pytest.raises(StoreUnavailable, match=r"PRAGMA journal_mode=WAL"):
        Database.open(str(home))
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA journal_mode=WAL")
    Database.open(str(home)).close()


def test_a_path_of_any_signs_holds_a_store(tmp_path: Path, clock: TurnedClock) -> None:
    home = tmp_path / "ho me?mode=memory#%41&" / "ünï" / os.fsdecode(b"\xff")
    world = made(home, clock)
    token = world.token()
    world.database.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ho me?mode=memory#%41&"]
    assert (home / "hcpx.db").exists()
    assert token


def test_closing_one_view_of_a_store_harms_no_other(home: Path, clock: TurnedClock) -> None:
    one = made(home, clock)
    other = Database.open(str(home))
    other.close()
    other.close()
    one.token()
    with closing(sqlite3.connect(home / "hcpx.db", timeout=0)) as sql:
        assert sql.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[0] == 0
    assert (home / "hcpx.db-wal").exists(), "another connection that closes must not believe to be the last"
    with pytest.raises(StoreUnavailable, match="closed"):
        other.changes()
    one.database.close()


def test_stores_that_come_and_go_leave_no_descriptor_open(home: Path, clock: TurnedClock) -> None:
    made(home, clock).database.close()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        Database.open(str(home)).changes()
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1


def test_health_tells_sizes_and_finds_damage_when_asked_to_look(home: Path, clock: TurnedClock) -> None:
    world = made(home, clock)
    world.grants.list(TENANT)
    seen = health(world.database, thorough=True)
    assert (seen.path, seen.schema, seen.problem) == (str(home / "hcpx.db"), 1, None)
    assert seen.size > 0
    assert seen.log_size > 0
    assert seen.free > 0
    world.database.close()

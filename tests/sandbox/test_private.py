from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hcpx.sandbox.private import PrivateFolders
from tests.sandbox.running import PATH

LONG_AGO = (1_000_000_000, 1_000_000_000)


def test_a_folder_is_private_empty_and_has_its_rooms(tmp_path: Path) -> None:
    folders = PrivateFolders(str(tmp_path / "calls"), ("home", "tmp"))
    folder = folders.take()
    path = Path(folder.path)
    assert path.parent == tmp_path / "calls"
    assert {one.name: list(one.iterdir()) for one in path.iterdir()} == {"home": [], "tmp": []}
    for one in (path.parent, path, path / "home", path / "tmp"):
        assert one.stat().st_mode & 0o7777 == 0o700
    assert folders.give_back(folder)
    folders.close()
    assert list((tmp_path / "calls").iterdir()) == []


def test_two_at_once_are_never_the_same(tmp_path: Path) -> None:
    folders = PrivateFolders(str(tmp_path))
    paths: list[str] = []
    barrier = threading.Barrier(8)

    def one() -> None:
        for _ in range(20):
            folder = folders.take()
            paths.append(folder.path)
            barrier.wait()
            folders.give_back(folder)
            barrier.wait()

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len({*paths[turn : turn + 8]}) == 8 for turn in range(0, 160, 8))
    folders.close()
    assert list(tmp_path.iterdir()) == []


def spoil_by_file(path: Path) -> None:
    (path / "home" / "left").touch()


def spoil_by_file_beside_the_rooms(path: Path) -> None:
    (path / "left").touch()


def spoil_by_rights(path: Path) -> None:
    (path / "tmp").chmod(0o777)


def spoil_by_removal(path: Path) -> None:
    (path / "tmp").rmdir()


def spoil_by_link(path: Path) -> None:
    (path / "tmp").rmdir()
    (path / "tmp").symlink_to("/etc")


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize(
    "spoil",
    [
        spoil_by_file,
        spoil_by_file_beside_the_rooms,
        spoil_by_rights,
        spoil_by_removal,
        spoil_by_link,
    ],
)
def test_a_folder_that_comes_back_spoiled_is_not_used_again(spoil: object, settled: bool, tmp_path: Path) -> None:
    folders = PrivateFolders(str(tmp_path), ("home", "tmp"))
    folder = folders.take()
    if settled:
        folders.give_back(folder)
        folder = folders.take()
        folder.settled = True
    assert callable(spoil)
    spoil(Path(folder.path))
    assert folders.give_back(folder)
    assert list(tmp_path.iterdir()) == []
    again = folders.take()
    assert again.path != folder.path
    folders.give_back(again)
    folders.close()


def test_a_folder_that_comes_back_as_it_was_is_used_again(tmp_path: Path) -> None:
    folders = PrivateFolders(str(tmp_path), ("home",))
    first = folders.take()
    (Path(first.path) / "home" / "passing").touch()
    (Path(first.path) / "home" / "passing").unlink()
    assert folders.give_back(first)
    second = folders.take()
    assert second.path == first.path
    folders.give_back(second)
    folders.close()


CRASH = """
import os, sys
from hcpx.sandbox.private import PrivateFolders
folders = PrivateFolders(sys.argv[1], ("home",))
folder = folders.take()
open(folder.path + "/home/secret", "w").write("x")
os.chmod(folder.path + "/home", 0)
print(folder.path, flush=True)
if sys.argv[2] == "live":
    input()
os.kill(os.getpid(), 9)
"""


def crashed(parent: Path, how: str) -> tuple[subprocess.Popen[bytes], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", CRASH, str(parent), how],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PATH": PATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().decode().strip())


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    process, left = crashed(tmp_path, "die")
    process.communicate()
    os.utime(left, LONG_AGO)
    folders = PrivateFolders(str(tmp_path), ("home",))
    folder = folders.take()
    assert [one.name for one in tmp_path.iterdir()] == [Path(folder.path).name]
    folders.give_back(folder)
    folders.close()


def test_what_a_live_process_uses_is_left_alone_however_old(tmp_path: Path) -> None:
    process, used = crashed(tmp_path, "live")
    os.utime(used, LONG_AGO)
    folders = PrivateFolders(str(tmp_path), ("home",))
    folder = folders.take()
    assert used.exists()
    folders.give_back(folder)
    folders.close()
    process.communicate(b"\n")


def test_what_was_made_this_moment_is_left_alone_though_nobody_has_locked_it_yet(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    folders = PrivateFolders(str(tmp_path))
    folders.give_back(folders.take())
    folders.close()
    assert [one.name for one in tmp_path.iterdir()] == ["fresh"]


def test_a_stranger_in_the_parent_folder_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("/etc")
    folders = PrivateFolders(str(tmp_path))
    folders.give_back(folders.take())
    folders.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "link"]


def test_a_fork_does_not_use_the_spare_folders_of_its_parent(tmp_path: Path) -> None:
    program = """
import os, sys
from hcpx.sandbox.private import PrivateFolders
folders = PrivateFolders(sys.argv[1])
folder = folders.take()
folders.give_back(folder)
if os.fork() == 0:
    other = folders.take()
    print(other.path != folder.path, flush=True)
    folders.give_back(other)
    folders.close()
    os._exit(0)
os.wait()
print(folders.take().path == folder.path)
"""
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": PATH}
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=True, env=env)
    assert done.stdout == b"True\nTrue\n"


def test_a_parent_that_cannot_be_made_is_an_error_each_time_and_no_longer_than_that(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()
    folders = PrivateFolders(str(place / "calls"))
    for _ in range(2):
        with pytest.raises(OSError, match="Not a directory"):
            folders.take()
    place.unlink()
    assert folders.give_back(folders.take())
    folders.close()

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from hcpx.sandbox.removal import remove

if TYPE_CHECKING:
    from pathlib import Path


def test_an_empty_and_a_missing_folder_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    assert remove(str(path))
    assert remove(str(path))
    assert list(tmp_path.iterdir()) == []


def test_folders_without_rights_odd_names_and_odd_files_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    closed = path / "a" / "b"
    closed.mkdir(parents=True)
    for name in (b"line\nbreak", b"\xff\xfe", b"-rf", b" ", b"*", b"x" * 255):
        with open(os.path.join(os.fsencode(closed), name), "wb"):
            pass
        os.mkdir(os.path.join(os.fsencode(path), b"d" + name[:200]), 0o000)
    os.mkfifo(path / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        os.chdir(path)  # the path of a socket is short
        sock.bind("socket")
        os.chdir("/")
    closed.chmod(0o000)
    (path / "a").chmod(0o500)
    path.chmod(0o000)
    assert remove(str(path))
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_removed_and_what_it_leads_to_stays_as_it_is(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(0o755)
    (outside / "kept").touch()
    path = tmp_path / "folder"
    (path / "below").mkdir(parents=True)
    (path / "link").symlink_to(outside)
    (path / "below" / "link").symlink_to(outside)
    (path / "below" / "file").symlink_to(outside / "kept")
    assert remove(str(path))
    assert [one.name for one in tmp_path.iterdir()] == ["outside"]
    assert [one.name for one in outside.iterdir()] == ["kept"]
    assert outside.stat().st_mode & 0o7777 == 0o755


def test_a_link_in_the_place_of_the_folder_itself_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (tmp_path / "folder").symlink_to(outside)
    assert not remove(str(tmp_path / "folder"))
    assert (outside / "kept").exists()


def test_any_depth_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    deep = os.open(path, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deeper", dir_fd=deep)
        below = os.open("deeper", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    assert remove(str(path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_hundred_thousand_files_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    for number in range(100_000):
        os.close(os.open(path / str(number), os.O_CREAT | os.O_WRONLY))
    assert remove(str(path))
    assert list(tmp_path.iterdir()) == []

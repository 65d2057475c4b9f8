"""The store's files: where they lie, who may see them, and the descriptor that holds the database open.

SQLite locks a file by process, and closing any descriptor of it drops those locks. So the file is opened here
once a process, and that one descriptor is closed after the last connection.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from _thread import allocate_lock
from contextlib import suppress
from typing import Final, NamedTuple

from hcpx.ports import StoreUnavailable

from .errors import StoreMissing
from .faults import damaged, from_system

NAME: Final = "hcpx.db"
APPLICATION: Final = 0x68637078
"""SQLite's application id of a store: the letters hcpx."""

_MAGIC: Final = b"SQLite format 3\0"
_HEADER: Final = 100
_WAL: Final = b"\x02\x02"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
# The bytes that every SQLite connection locks for reading (sqlite.org/fileformat2.html, the lock-byte page).
_SHARED: Final = (0x4000_0002, 510)


class Guard(NamedTuple):
    """The one open descriptor of a database in this process."""

    path: str
    fd: int
    inode: tuple[int, int]


class _Held:
    """How often a database is open in this process."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.users = 0


_lock: Final = allocate_lock()
_held: Final[dict[tuple[int, int], _Held]] = {}


def database_path(home: str) -> str:
    """Return the path of the database in a folder, links on the way to the folder resolved."""
    return os.path.join(os.path.realpath(home), NAME)


def take(path: str) -> Guard:
    """Open a database's file and hold it, or raise `StoreUnavailable` for what is no store of this user."""
    check_folder(os.path.dirname(path))
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise StoreMissing(f"there is no store in {os.path.dirname(path)} yet") from None
    except OSError as problem:
        raise from_system(problem, path) from None
    _check_file(found, path)
    inode = (found.st_dev, found.st_ino)
    with _lock:
        held = _held.get(inode) or _Held(_open(path, inode))
        held.users += 1
        _held[inode] = held
    return Guard(path, held.fd, inode)


def release(guard: Guard) -> None:
    """Let go of a database whose connections are closed."""
    with _lock:
        held = _held.get(guard.inode)
        if held is None:
            return
        held.users -= 1
        if held.users == 0:
            del _held[guard.inode]
            os.close(held.fd)


def _open(path: str, inode: tuple[int, int]) -> int:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as problem:
        raise from_system(problem, path) from None
    try:
        _check_content(fd, path, inode)
    except BaseException:
        os.close(fd)
        raise
    _share(fd)
    return fd


def _check_content(fd: int, path: str, inode: tuple[int, int]) -> None:
    found = os.fstat(fd)
    if (found.st_dev, found.st_ino) != inode:
        raise StoreUnavailable(f"{path} was replaced while it was opened; try again")
    try:
        header = os.pread(fd, _HEADER, 0)
    except OSError as problem:
        raise from_system(problem, path) from None
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise damaged(path, "file is not a database")
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        raise damaged(path, "a database, but not of hcpx")
    if header[18:20] != _WAL:
        raise StoreUnavailable(f"{path} is not in WAL mode; run: sqlite3 {path} 'PRAGMA journal_mode=WAL'")


def check_folder(folder: str) -> None:
    """Raise `StoreUnavailable` unless the folder is there, this user's, and closed to others."""
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        raise StoreMissing(f"there is no store in {folder} yet") from None
    except OSError as problem:
        raise from_system(problem, folder) from None
    if not stat.S_ISDIR(found.st_mode):
        raise StoreUnavailable(f"{folder} is not a folder")
    _check_rights(found, folder, "700")


def _check_file(found: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise StoreUnavailable(f"{path} is a link; a store is a plain file, move the real one there")
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnavailable(f"{path} is not a plain file")
    _check_rights(found, path, "600")


def _check_rights(found: os.stat_result, path: str, mode: str) -> None:
    if found.st_uid != os.geteuid():
        raise StoreUnavailable(f"{path} belongs to another user (uid {found.st_uid}); only the owner may use it")
    if found.st_mode & _OTHERS:
        raise StoreUnavailable(f"{path} is open to other users; run: chmod {mode} {path}")


def _share(fd: int) -> None:
    """Look to SQLite like one more connection, in a process of its own.

    So no connection that closes believes to be the last: the last one would copy the whole write-ahead log
    into the database and sync both, at the end of every short command. The lock goes with the descriptor, not
    with the process; a system that has no such locks only loses the speed.
    """
    command = getattr(fcntl, "F_OFD_SETLK", None)
    if command is not None:
        start, length = _SHARED
        with suppress(OSError):
            fcntl.fcntl(fd, command, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, start, length, 0))

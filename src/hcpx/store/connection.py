"""One thread's connection to the database."""

from __future__ import annotations

import os
import sqlite3
from typing import Final

from .faults import WAIT_S, from_system, unavailable

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")


class Connection:
    """A connection of one thread, with a descriptor of the write-ahead log that it appends to.

    SQLite never syncs a commit of it (`synchronous=NORMAL`) and never empties the log by itself.
    """

    __slots__ = ("_path", "_wal", "counter", "held", "sql", "written")

    def __init__(self, path: str, wait_s: float = WAIT_S) -> None:
        self._path = path
        self._wal = -1
        self.held: int | None = None
        """The change counter as the running call of this thread found it; see `Database.steady`."""
        self.written = 0
        """How many rows this connection had changed when its transaction began."""
        try:
            self.sql = sqlite3.connect(
                _uri(path),
                uri=True,
                timeout=wait_s,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            self.counter = self.sql.cursor()
            """For the change counter alone, which every call reads: a cursor for each time costs as much again."""
            self.sql.execute("PRAGMA synchronous=NORMAL")
            self.sql.execute("PRAGMA wal_autocheckpoint=0")
        except sqlite3.Error as problem:
            raise unavailable(problem, path) from None

    def wal(self) -> int:
        """Return a descriptor of the log; that file stays in use as long as this connection is open."""
        if self._wal < 0:
            try:
                self._wal = os.open(f"{self._path}-wal", os.O_RDONLY | os.O_NOFOLLOW)
            except OSError as problem:
                raise from_system(problem, f"{self._path}-wal") from None
        return self._wal

    def close(self) -> None:
        """Close both."""
        self.sql.close()
        if self._wal >= 0:
            os.close(self._wal)
            self._wal = -1


def _uri(path: str) -> str:
    """Return the URI that opens an existing database, and never makes one; any bytes may be in the path."""
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(path))
    return f"file:{name}?mode=rw"

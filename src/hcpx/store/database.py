"""One SQLite database used by many threads and processes: transactions, durability, housekeeping."""

from __future__ import annotations

import os
import sqlite3
from _thread import allocate_lock, get_ident
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final
from weakref import WeakSet

from hcpx.ports import StoreUnavailable

from . import files, queries
from .connection import Connection
from .faults import WAIT_S, from_system, locked, no_value, unavailable
from .migrations import SHIPPED, Migrations

Row = tuple[Any, ...]
Values = Sequence[object]

# A text with lone surrogates and a number beyond 64 bits: what somebody typed, and no row can hold.
_NO_VALUE: Final = (UnicodeEncodeError, OverflowError)
_to_disk: Final = getattr(os, "fdatasync", os.fsync)

# Each commit leaves some four pages in the write-ahead log. A hundred of them cost the next process that
# finds nobody else 0.2 ms to read in, emptying it costs 1.5 ms: every 32nd record of short processes does it.
_SHORT_LIFE: Final = 32
# While a process lives nobody reads the log in; a log of some 4 MB, used again and again, is the fastest.
_LONG_STRETCH: Final = 256
_LARGE_LOG: Final = 8 * 1024 * 1024
_UNREAD: Final = -2


class Writing:
    """The block of one write transaction."""

    __slots__ = ("_database", "_durable")

    def __init__(self, database: Database, *, durable: bool) -> None:
        self._database = database
        self._durable = durable

    def __enter__(self) -> None:
        self._database.begin(durable=self._durable)

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        self._database.end(commit=kind is None, durable=self._durable)


class Changing:
    """The block of one change by the owner: durable, and counted, so that every cache notices."""

    __slots__ = ("_database",)

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.begin(durable=True)

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        commit = False
        try:
            if kind is None:
                self._database.run(queries.COUNT_CHANGE)
                commit = True
        finally:
            self._database.end(commit=commit, durable=True)
        if commit:
            self._database.unsteady()
            self._database.due = True
            self._database.rest()


class Steady:
    """The block of one call: what it may do is judged by the store as it was when the call first asked."""

    __slots__ = ("_before", "_connection", "_database")

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._connection = self._database.connection_or_none()
        if self._connection is not None:
            self._before = self._connection.held
            self._connection.held = _UNREAD

    def __exit__(self, kind: object, problem: object, trace: object) -> None:
        if self._connection is not None:
            # A call around this one goes on judging by what is true now.
            self._connection.held = None if self._before is None else _UNREAD


class Database:
    """The store's database. Every method may raise `StoreUnavailable`.

    SQLite never syncs a commit here. A durable one is followed by one fdatasync of the write-ahead log, after
    the write lock is free again: writers that wait for the disk hold nobody up, and share what one of them
    pays. (What SQLite must sync for the log to be sound, its header and what it copies out, it syncs.)
    """

    def __init__(self, guard: files.Guard) -> None:
        self.path: Final = guard.path
        self.due = False
        """Whether the log has grown enough for a short process to empty it; see `rest`."""
        self._guard = guard
        self._open = True
        self._connections: dict[int, Connection] = {}
        self._inherited: list[Connection] = []
        self._writer = allocate_lock()
        self._commits = 0
        self._since_rest = 0
        self._lost: str | None = None
        self._quick = Writing(self, durable=False)
        self._durable = Writing(self, durable=True)
        self._changing = Changing(self)
        _databases.add(self)

    @classmethod
    def open(cls, home: str, known: Migrations = SHIPPED) -> Database:
        """Open the store in that folder: an older one is migrated, a newer or damaged one is refused."""
        database = cls(files.take(files.database_path(home)))
        try:
            database._bring_up(known)
        except BaseException:
            database.close()
            raise
        return database

    def _bring_up(self, known: Migrations) -> None:
        schema = self.schema()
        if schema > known.latest:
            raise StoreUnavailable(
                f"{self.path} was written by a newer hcpx (schema {schema}, this one knows {known.latest});"
                " upgrade hcpx"
            )
        if schema < known.latest:
            from .migrate import forward

            forward(self.path, known)

    def schema(self) -> int:
        """Return the number of the newest migration that the store has had."""
        row = self.one("PRAGMA user_version")
        return int(row[0]) if row else 0

    # --- reading ------------------------------------------------------------------------------------------

    def one(self, sql: str, values: Values = ()) -> Row | None:
        """Return the first row, or None."""
        try:
            return self._mine().sql.execute(sql, values).fetchone()
        except sqlite3.Error as problem:
            raise unavailable(problem, self.path) from None
        except _NO_VALUE:
            raise no_value() from None

    def all(self, sql: str, values: Values = ()) -> list[Row]:
        """Return every row."""
        try:
            return self._mine().sql.execute(sql, values).fetchall()
        except sqlite3.Error as problem:
            raise unavailable(problem, self.path) from None
        except _NO_VALUE:
            raise no_value() from None

    def changes(self) -> int:
        """Return the change counter: what was read before, and has the same number, still holds."""
        connection = self._mine()
        held = connection.held
        if held is None:
            return self._count(connection)
        if held == _UNREAD:
            held = connection.held = self._count(connection)
        return held

    def changes_now(self) -> int:
        """Return the change counter as it is now, also within a `steady` block, which ends with that."""
        self.unsteady()
        return self._count(self._mine())

    def unsteady(self) -> None:
        """End the `steady` block that this thread may be in: from here on the counter is read each time."""
        self._mine().held = None

    def steady(self) -> Steady:
        """Read the change counter once for a block of this thread: the judging of one call.

        A block within it, such as a step of a composite, reads it anew; so does what asks for `changes_now`.
        """
        return Steady(self)

    def connection_or_none(self) -> Connection | None:
        """Return this thread's connection, or None where it cannot be had: whoever needs it then says why."""
        try:
            return self._mine()
        except (StoreUnavailable, RuntimeError):
            return None

    def _count(self, connection: Connection) -> int:
        counter = connection.counter
        try:
            row = counter.execute(queries.CHANGES).fetchone()
            counter.fetchone()  # there is no other row: the statement ends, and what it saw is not held on to
        except sqlite3.Error as problem:
            raise unavailable(problem, self.path) from None
        return row[0] if row else -1

    @contextmanager
    def snapshot(self) -> Generator[sqlite3.Connection]:
        """Give a connection of its own that sees the store as it is now, whatever is written meanwhile."""
        connection = Connection(self.path)
        try:
            connection.sql.execute("BEGIN")
            connection.sql.execute(queries.CHANGES).fetchone()
            yield connection.sql
        except sqlite3.Error as problem:
            raise unavailable(problem, self.path) from None
        finally:
            connection.close()

    # --- writing ------------------------------------------------------------------------------------------

    def run(self, sql: str, values: Values = ()) -> int:
        """Change rows inside a write transaction, and return how many."""
        connection = self._mine()
        if not connection.sql.in_transaction:
            raise RuntimeError("a write outside of a transaction")
        try:
            return connection.sql.execute(sql, values).rowcount
        except sqlite3.Error as problem:
            raise unavailable(problem, self.path) from None
        except _NO_VALUE:
            raise no_value() from None

    def insert(self, sql: str, values: Values = ()) -> int:
        """Add a row inside a write transaction, and return its number."""
        self.run(sql, values)
        row = self.one("SELECT last_insert_rowid()")
        return row[0] if row else 0

    def writing(self, *, durable: bool) -> Writing:
        """Be the only writer for a block: all or nothing; a durable one is on disk when it has ended."""
        return self._durable if durable else self._quick

    def changing(self) -> Changing:
        """Be the only writer for a block that changes what caches hold: durable, and counted."""
        return self._changing

    def begin(self, *, durable: bool) -> None:
        """Begin the write transaction of a block."""
        connection = self._mine()
        if connection.sql.in_transaction:
            raise RuntimeError("a transaction within a transaction")
        if durable:
            if self._lost is not None:
                raise StoreUnavailable(self._lost)
            connection.wal()
        if not self._writer.acquire(timeout=WAIT_S):
            raise locked(self.path)
        try:
            connection.sql.execute("BEGIN IMMEDIATE")
            connection.written = connection.sql.total_changes
        except BaseException as problem:
            self._writer.release()
            if isinstance(problem, sqlite3.Error):
                raise unavailable(problem, self.path) from None
            raise

    def end(self, *, commit: bool, durable: bool) -> None:
        """End the write transaction of a block."""
        connection = self._mine()
        try:
            connection.sql.execute("COMMIT" if commit else "ROLLBACK")
        except BaseException as problem:
            # Whatever came in between, Ctrl-C too: no transaction stays open, it would lock everybody out.
            with suppress(sqlite3.Error):
                connection.sql.rollback()
            if not isinstance(problem, sqlite3.Error):
                raise
            if commit:
                raise unavailable(problem, self.path) from None
        finally:
            self._writer.release()
        if commit and connection.sql.total_changes != connection.written:
            self._commits += 1
            self._since_rest += 1
            if durable:
                self._sync(connection)

    def _sync(self, connection: Connection) -> None:
        try:
            _to_disk(connection.wal())
        except OSError as problem:
            # After a failed sync the system forgets what it could not write: nothing is durable any more.
            self._lost = f"{from_system(problem, self.path)}; what was written may be lost, end this process"
            raise StoreUnavailable(self._lost) from None

    # --- housekeeping -------------------------------------------------------------------------------------

    def rest(self) -> None:
        """Empty the write-ahead log where that is due; called when a call is over, not before its adapter."""
        if self._since_rest >= _LONG_STRETCH or (self.due and self._commits <= _SHORT_LIFE):
            self.due = False
            self._since_rest = 0
            # Nobody's call fails for housekeeping: what could not be done now is done next time.
            with suppress(StoreUnavailable, sqlite3.Error):
                self._empty_log()

    def begin_log(self) -> None:
        """Write something: the first write into an empty log syncs its header, which no intent shall pay."""
        with self.writing(durable=False):
            self.run(queries.BEGIN_LOG)

    def _empty_log(self) -> None:
        connection = self._mine()
        busy, pages, copied = connection.sql.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if busy or pages != copied:
            return
        if os.fstat(connection.wal()).st_size > _LARGE_LOG:
            impatient = Connection(self.path, wait_s=0)
            try:
                impatient.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                impatient.close()
        self.begin_log()

    def close(self) -> None:
        """Close every connection of this process; a long life ends with an empty log."""
        if not self._open:
            return
        if self._commits > _SHORT_LIFE and self._since_rest and self._connections:
            self._since_rest = 0
            with suppress(StoreUnavailable, sqlite3.Error):
                self._empty_log()
        self._open = False
        while self._connections:
            self._connections.popitem()[1].close()
        files.release(self._guard)

    def __del__(self) -> None:
        with suppress(Exception):
            self._commits = 0
            self.close()

    def _mine(self) -> Connection:
        """Return this thread's connection; a thread that gets the number of a dead one takes its over."""
        connection = self._connections.get(get_ident())
        if connection is None:
            if not self._open:
                raise StoreUnavailable(f"{self.path} was closed by this process; open it again")
            connection = self._connections[get_ident()] = Connection(self.path)
        return connection

    def forget_parent(self) -> None:
        """After a fork: keep the parent's connections unused and unclosed, since their locks are not ours."""
        self._inherited.extend(self._connections.values())
        self._connections = {}
        self._writer = allocate_lock()


_databases: Final[WeakSet[Database]] = WeakSet()


def _after_fork() -> None:
    for database in _databases:
        database.forget_parent()


os.register_at_fork(after_in_child=_after_fork)

"""Brings an older store forward: a backup copy first, then every missing migration in one transaction."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from typing import Final

from .connection import Connection
from .faults import from_system, unavailable
from .migrations import Migrations

_OWNER_ONLY: Final = 0o600


def forward(path: str, known: Migrations) -> None:
    """Migrate the database of that path; on any trouble it stays as it was. Raises `StoreUnavailable`."""
    connection = Connection(path)
    try:
        connection.sql.execute("PRAGMA synchronous=FULL")
        connection.sql.execute("BEGIN IMMEDIATE")
        schema = int(connection.sql.execute("PRAGMA user_version").fetchone()[0])
        # Another process may have been faster while this one waited.
        if schema < known.latest:
            _back_up(path, schema)
            apply(connection.sql, known, schema)
        connection.sql.execute("COMMIT")
    except sqlite3.Error as problem:
        raise unavailable(problem, path) from None
    finally:
        connection.close()


def apply(sql: sqlite3.Connection, known: Migrations, schema: int) -> None:
    """Run what is missing behind migration `schema`, inside the open transaction."""
    for number in range(schema + 1, known.latest + 1):
        statement = ""
        for line in known.script(number).splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                sql.execute(statement)
                statement = ""
        sql.execute(f"PRAGMA user_version = {number}")


def _back_up(path: str, schema: int) -> None:
    """Copy the database as it is, synced, beside itself; a copy that could not be finished is removed."""
    copy = f"{path}.schema-{schema}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.backup"
    try:
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
        try:
            with closing(Connection(path)) as source, closing(sqlite3.connect(copy)) as target:
                source.sql.backup(target)
            sync(copy)
            sync(os.path.dirname(copy))
        except BaseException:
            with suppress(OSError):
                os.unlink(copy)
            raise
    except OSError as problem:
        raise from_system(problem, copy) from None
    except sqlite3.Error as problem:
        raise unavailable(problem, copy) from None


def sync(path: str) -> None:
    """Put a file or a folder on disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

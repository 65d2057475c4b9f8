"""How the store is, for people who ask whether something is wrong."""

from __future__ import annotations

import os

import msgspec

from .database import Database


class Health(msgspec.Struct, frozen=True):
    """Sizes are in bytes: the database, its write-ahead log, what is free on that disk.

    `problem` is what a check of every page found first, None where it found nothing or was not asked for.
    """

    path: str
    schema: int
    size: int
    log_size: int
    free: int
    problem: str | None = None


def health(database: Database, *, thorough: bool = False) -> Health:
    """Look at the store; a `thorough` look reads all of it. Raises `StoreUnavailable`."""
    disk = os.statvfs(os.path.dirname(database.path))
    return Health(
        path=database.path,
        schema=database.schema(),
        size=_size(database.path),
        log_size=_size(f"{database.path}-wal"),
        free=disk.f_bavail * disk.f_frsize,
        problem=_first_problem(database) if thorough else None,
    )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _first_problem(database: Database) -> str | None:
    row = database.one("PRAGMA quick_check(1)")
    return None if row is None or row[0] == "ok" else str(row[0])

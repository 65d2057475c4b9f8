"""Makes a store: complete, or not at all. Nothing else in hcpx does."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from typing import Final

from hcpx.ports import Clock, StoreUnavailable
from hcpx.vocabulary.principal import is_principal_id, is_scope_id

from . import files, queries
from .database import Database
from .errors import Exists, Refused
from .faults import from_system, unavailable
from .migrate import apply, sync
from .migrations import SHIPPED

_OWNER_ONLY: Final = 0o700
_DRAFT: Final = ".new-"


def exists(home: str) -> bool:
    """Tell whether the folder holds a store, sound or not."""
    return os.path.lexists(files.database_path(home))


def create(home: str, tenant: str, principal: str, clock: Clock) -> None:
    """Make a store in that folder, with its first tenant and the owner's session for that principal.

    The folder is made where it is missing, and closed to others where it is empty. Raises `Refused` for ids
    that are none, `Exists` where there is a store (also where another process was faster).
    """
    if not is_scope_id(tenant):
        raise Refused(f"{tenant!r} is no tenant id: lower-case letters, digits and single dashes, at most 64")
    if not is_principal_id(principal):
        raise Refused(f"{principal!r} is no principal id: kind:name, such as user:ada")
    path = files.database_path(home)
    draft = f"{path}{_DRAFT}{os.getpid()}-{os.urandom(4).hex()}"
    try:
        _make_folder(os.path.dirname(path))
        if exists(home):
            raise Exists(f"there is a store at {path} already")
        _sweep(path)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            _fill(draft, tenant, principal, clock)
            os.link(draft, path)
        finally:
            for suffix in ("", "-journal", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(draft + suffix)
        sync(os.path.dirname(path))
    except FileExistsError:
        raise Exists(f"there is a store at {path} already") from None
    except OSError as problem:
        raise from_system(problem, path) from None
    except sqlite3.Error as problem:
        raise unavailable(problem, path) from None
    with closing(Database.open(home)) as database:
        database.begin_log()


def _make_folder(folder: str) -> None:
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, _OWNER_ONLY)
    if not os.path.isdir(folder):
        raise StoreUnavailable(f"{folder} is not a folder")
    if os.stat(folder).st_uid == os.geteuid() and not os.listdir(folder):
        os.chmod(folder, _OWNER_ONLY)
    files.check_folder(folder)


def _sweep(path: str) -> None:
    """Remove what others left who were killed while they made a store; their number is in its name."""
    folder, begin = os.path.dirname(path), os.path.basename(path) + _DRAFT
    for name in os.listdir(folder):
        if name.startswith(begin):
            try:
                os.kill(int(name.removeprefix(begin).partition("-")[0]), 0)
            except ProcessLookupError:
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
            except (ValueError, PermissionError, OverflowError):
                continue


def _fill(draft: str, tenant: str, principal: str, clock: Clock) -> None:
    now = clock.now()
    with closing(sqlite3.connect(draft, isolation_level=None)) as sql:
        sql.execute("PRAGMA synchronous=FULL")
        sql.execute("BEGIN IMMEDIATE")
        sql.execute(f"PRAGMA application_id = {files.APPLICATION}")
        apply(sql, SHIPPED, 0)
        sql.execute(queries.TENANT_ADD, (tenant, now))
        sql.execute(queries.PRINCIPAL_ADD, (tenant, principal, now))
        owner = (clock.new_id("s"), "owner", None, tenant, principal, None, None, None, now, None)
        sql.execute(queries.SESSION_ADD, owner)
        sql.execute("COMMIT")
        # It stays in the file, and needs the file for itself: later no connection would get that.
        sql.execute("PRAGMA journal_mode=WAL")

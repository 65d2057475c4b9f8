"""What SQLite and the system refuse, as sentences that name the file and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hcpx.ports import StoreUnavailable

from .errors import Refused, StoreDamaged

if TYPE_CHECKING:
    import sqlite3

WAIT_S: Final = 10.0
"""How long one process waits for another one's write."""

_RECOVERY: Final = "keep a copy of it, then put a backup in its place (docs/reference/store.md, recovery)"

# The primary result codes of SQLite (the lowest byte of an error's code), each with its sentence.
_BY_CODE: Final = {
    3: "{path} may not be opened by this user; hcpx runs as the user who owns the folder",
    5: "{path} is held by another process for more than {wait} s; see which: fuser -v {path}",
    6: "{path} is held by another call for more than {wait} s; try again",
    7: "no memory is left to read {path}",
    8: "{path} is read-only; give its owner the right to write the file and its folder",
    10: "{path} cannot be read or written; look at the disk, its quota and the limit on file sizes",
    13: "no space is left for {path}; free some on that disk, nothing was changed",
    14: "{path} cannot be opened; look at the rights of its folder, and whether a file of it is a link",
    15: "{path} is being opened by too many at once; try again",
    18: "one row is too large for {path}",
}
_DAMAGED: Final = frozenset({1, 11, 19, 26})


def unavailable(problem: sqlite3.Error, path: str) -> StoreUnavailable:
    """Return what a refusal of SQLite means to the caller; what is our own bug is raised as it is."""
    code: int | None = getattr(problem, "sqlite_errorcode", None)
    if code is None:
        raise problem
    code &= 0xFF
    if code in _DAMAGED:
        return damaged(path, str(problem))
    sentence = _BY_CODE.get(code, "{path}: {text}")
    return StoreUnavailable(sentence.format(path=path, wait=f"{WAIT_S:g}", text=problem))


def locked(path: str) -> StoreUnavailable:
    """Return what it means that another thread of this process did not end its write."""
    return StoreUnavailable(_BY_CODE[6].format(path=path, wait=f"{WAIT_S:g}"))


def no_value() -> Refused:
    """Return what it means that a value fits into no row."""
    return Refused("a text that is not Unicode, or a number beyond 64 bits, cannot be stored or found")


def damaged(path: str, why: str) -> StoreDamaged:
    """Return what a file that is not a whole store means to the caller."""
    return StoreDamaged(f"{path} is damaged ({why}) and was left as it is; {_RECOVERY}")


def from_system(problem: OSError, path: str) -> StoreUnavailable:
    """Return what a refusal of the system means to the caller."""
    return StoreUnavailable(f"{path}: {(problem.strerror or 'unknown error').lower()}")

"""Finds the program behind `wrap.bin` and holds it against the allow-list (Spec 02 section 2, "bin")."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Final

import msgspec

from .faults import fault

Allowed = Callable[[str], str | None]
"""Gives the real path that was stored for a program at `hcpx allow`, or None."""

_CHUNK: Final = 1024 * 1024
_Stamp = tuple[int, int, int, int, int]


class Found(msgspec.Struct, frozen=True):
    """A program that may be started: its real path, and the name that it is started under."""

    path: str
    name: str


class NotFound(msgspec.Struct, frozen=True):
    """Why there is none: not allow-listed (`why` None), or not executable; `hint` says how to go on."""

    why: str | None = None
    hint: str | None = None


def find(name: str, root: str, search_path: str, allowed: Allowed) -> Found | NotFound:
    """Find the program `name` of a pack below `root`, links resolved; what is checked is what is started.

    A relative path with a slash, or a bare name at the pack's root, is the pack's own file: its digest holds
    it. All else is a program of the host and needs `allowed`.
    """
    if not name or name != name.strip() or "\0" in name:
        return NotFound(hint="the name of a program has no blanks around it")
    if not os.path.isabs(name):
        path = os.path.join(root, name)
        if "/" in name:
            return _own(path, root, search_path)
        if _is_program(path):
            return _own(path, root, search_path)
        path = _on_path(name, search_path)
    else:
        path = name
    return _of_host(name, path, search_path, allowed)


class Digests:
    """The sha256 of programs' contents; a file is read again only where it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamp, str]] = {}

    def of(self, path: str) -> str:
        """Return the digest of a file; raises `OSError` where it cannot be read."""
        with open(path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            from hashlib import sha256

            state = sha256()
            while part := file.read(_CHUNK):
                state.update(part)
        self._known[path] = (stamp, state.hexdigest())
        return state.hexdigest()


def _own(path: str, root: str, search_path: str) -> Found | NotFound:
    real = os.path.realpath(path)
    if not real.startswith(os.path.realpath(root) + "/"):
        return NotFound(hint="a program of a pack lies inside the pack's directory")
    why = fault(real, search_path)
    return Found(real, real) if why is None else NotFound(why)


def _of_host(name: str, path: str | None, search_path: str, allowed: Allowed) -> Found | NotFound:
    real = None if path is None else os.path.realpath(path)
    if path is None or real is None or allowed(name) != real:
        return NotFound()
    if not _is_safe(real):
        return NotFound(
            hint=f"{name}, or a folder on the way to it, can be changed by anybody: take that right away"
        )
    why = fault(real, search_path)
    return Found(real, path) if why is None else NotFound(why)


def _on_path(name: str, search_path: str) -> str | None:
    """Return the first match on the search path; a relative part of that would be the caller's directory."""
    for folder in search_path.split(":"):
        path = os.path.join(folder, name)
        if folder.startswith("/") and _is_program(path):
            return path
    return None


def _is_program(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and os.access(path, os.X_OK, effective_ids=True)


def _is_safe(real: str) -> bool:
    """Tell whether neither the program nor a folder above it is anybody's to change."""
    try:
        if os.lstat(real).st_mode & stat.S_IWOTH:
            return False
        folder = os.path.dirname(real)
        while True:
            status = os.lstat(folder)
            roots = status.st_mode & stat.S_ISVTX and status.st_uid == 0
            if status.st_mode & stat.S_IWOTH and not roots:
                return False
            if folder == "/":
                return True
            folder = os.path.dirname(folder)
    except OSError:
        return False

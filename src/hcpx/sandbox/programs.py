"""Finds the program behind `wrap.bin` and holds it against the allow-list (Spec 02 section 2, "bin")."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Final

import msgspec

from .faults import file_fault, first_bytes, script_fault

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


class _File(msgspec.Struct, frozen=True):
    """A file: its real path, its state, that of the folders above it, and why it is no program."""

    real: str
    status: os.stat_result
    folders: list[os.stat_result]
    fault: str | None


class Programs:
    """The programs of this host; `search_path` is the runtime's own, never a caller's."""

    def __init__(self, search_path: str, allowed: Allowed) -> None:
        self._search_path = search_path
        self._allowed = allowed
        self._heads: dict[str, tuple[_Stamp, bytes]] = {}
        self._digests: dict[str, tuple[_Stamp, str]] = {}

    def find(self, name: str, root: str) -> Found | NotFound:
        """Find the program `name` of a pack below `root`, links resolved: what is checked is what is started.

        A relative path with a slash, or a bare name at the pack's root, is the pack's own file: its digest
        holds it. All else is a program of the host and must be allowed.
        """
        if not name or name != name.strip() or "\0" in name:
            return NotFound(hint="the name of a program has no blanks around it")
        if name.startswith("/"):
            return self._of_host(name, name, _look(name))
        path = f"{root}/{name}"
        file = _look(path)
        if "/" in name or (file is not None and file.fault is None):
            return self._own(path, file, root)
        for folder in self._search_path.split(":"):
            # A relative part of the search path would be the caller's directory.
            path = f"{folder}/{name}"
            file = _look(path) if folder.startswith("/") else None
            if file is not None and file.fault is None:
                return self._of_host(name, path, file)
        return NotFound()

    def digest(self, path: str) -> str:
        """Return the sha256 of a file's content, or raise `OSError`; read again only where it changed."""
        with open(path, "rb", buffering=0) as file:
            stamp = _stamp(os.fstat(file.fileno()))
            known = self._digests.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            from hashlib import sha256

            state = sha256()
            while part := file.read(_CHUNK):
                state.update(part)
        self._digests[path] = (stamp, state.hexdigest())
        return state.hexdigest()

    def _own(self, path: str, file: _File | None, root: str) -> Found | NotFound:
        top = _look(root)
        real = os.path.realpath(path) if file is None else file.real
        if top is None or not real.startswith(top.real.rstrip("/") + "/"):
            return NotFound(hint="a program of a pack lies inside the pack's directory")
        if file is None:
            return NotFound("no such file")
        return self._sound(file, real)

    def _of_host(self, name: str, path: str, file: _File | None) -> Found | NotFound:
        if file is None or self._allowed(name) != file.real:
            return NotFound()
        if not _is_safe(file):
            return NotFound(hint=f"{name} or a folder on the way to it can be changed by anybody: forbid that")
        return self._sound(file, path)

    def _sound(self, file: _File, name: str) -> Found | NotFound:
        why = file.fault or script_fault(self._head(file), self._search_path)
        return Found(file.real, name) if why is None else NotFound(why)

    def _head(self, file: _File) -> bytes:
        """Return the first bytes of a program, read again only where it has changed."""
        stamp = _stamp(file.status)
        known = self._heads.get(file.real)
        if known is not None and known[0] == stamp:
            return known[1]
        head = first_bytes(file.real)
        self._heads[file.real] = (stamp, head)
        return head


def _look(path: str) -> _File | None:
    """Return what a path leads to, links resolved, or None."""
    if not os.access(path, os.F_OK):
        return None
    if "/." in path or "//" in path:
        path = os.path.realpath(path)
    try:
        way = _way(path)
        if any(stat.S_ISLNK(status.st_mode) for status in way):
            path = os.path.realpath(path)
            way = _way(path)
    except OSError:
        return None
    return _File(path, way[0], way[1:], file_fault(path, way[0]))


def _way(path: str) -> list[os.stat_result]:
    """Return the state of a file and of every folder above it, no link followed."""
    way = [os.lstat(path)]
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        way.append(os.lstat(path))
    return way


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_safe(file: _File) -> bool:
    """Tell whether neither the program nor a folder above it is anybody's to change."""
    for folder in file.folders:
        root_keeps_it = folder.st_mode & stat.S_ISVTX and folder.st_uid == 0
        if folder.st_mode & stat.S_IWOTH and not root_keeps_it:
            return False
    return not file.status.st_mode & stat.S_IWOTH

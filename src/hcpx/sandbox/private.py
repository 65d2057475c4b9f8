"""Private folders for single calls: 0700, named by chance, gone after the call, and after a crash too.

A folder is locked as long as its call's process lives, so that what nobody has locked belongs to a dead one:
the first call of a process removes those. One that came back as it was made is used again.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
import time
from typing import Final

from .removal import remove

_YOUNG_S: Final = 60
_SPARE: Final = 16
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A file system tells times by the kernel's tick, of at most this length.
_TICK_NS: Final = 20_000_000


class PrivateFolder:
    """A folder of one call; its descriptor holds its lock."""

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self.fd = fd
        self.changed: list[int] = []
        self.settled = False
        """Whether its last change was so long ago that another one cannot bear the same time."""


class PrivateFolders:
    """Private folders below `parent`, each with the folders `rooms` in it. Of use to many threads at once."""

    def __init__(self, parent: str, rooms: tuple[str, ...] = ()) -> None:
        self._parent = parent
        self._rooms = rooms
        self._lock = threading.Lock()
        self._spare: list[PrivateFolder] = []
        self._process = 0

    def take(self) -> PrivateFolder:
        """Return an empty folder; raises `OSError` where none can be made."""
        with self._lock:
            if self._process != os.getpid():
                # After a fork the spare ones are still the parent's.
                self._spare.clear()
                self._sweep()
                self._process = os.getpid()
            folder = self._spare.pop() if self._spare else None
        if folder is None:
            return self._made()
        folder.settled = time.time_ns() - max(folder.changed) > _TICK_NS
        return folder

    def give_back(self, folder: PrivateFolder) -> bool:
        """Take a folder back and empty it; tell whether nothing of the call is left."""
        try:
            untouched = self._is_untouched(folder)
        except OSError:
            untouched = False
        if untouched:
            with self._lock:
                if len(self._spare) < _SPARE and self._process == os.getpid():
                    self._spare.append(folder)
                    return True
        return _removed(folder)

    def close(self) -> None:
        """Remove the folders that are kept to be used again."""
        with self._lock:
            spare, self._spare = self._spare, []
        for folder in spare:
            _removed(folder)

    def _made(self) -> PrivateFolder:
        path = os.path.join(self._parent, os.urandom(12).hex())
        os.mkdir(path, 0o700)
        fd = os.open(path, _FOLDER)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for room in self._rooms:
                os.mkdir(room, 0o700, dir_fd=fd)
        except OSError:
            os.close(fd)
            remove(path)
            raise
        return PrivateFolder(path, fd)

    def _is_untouched(self, folder: PrivateFolder) -> bool:
        """Tell whether a folder is as it was made: by the times of its last changes, else by a look at it."""
        states = [os.fstat(folder.fd), *[os.lstat(f"{folder.path}/{room}") for room in self._rooms]]
        changed = [state.st_ctime_ns for state in states]
        if folder.settled and changed == folder.changed:
            return True
        folder.changed = changed
        return (
            all(state.st_mode == stat.S_IFDIR | 0o700 and state.st_uid == os.geteuid() for state in states)
            and sorted(os.listdir(folder.fd)) == sorted(self._rooms)
            and not any(os.listdir(f"{folder.path}/{room}") for room in self._rooms)
        )

    def _sweep(self) -> None:
        """Remove what calls of dead processes have left."""
        os.makedirs(self._parent, 0o700, exist_ok=True)
        for name in os.listdir(self._parent):
            path = os.path.join(self._parent, name)
            try:
                fd = os.open(path, _FOLDER)
            except OSError:
                continue
            if _is_abandoned(fd):
                remove(path)
            os.close(fd)


def _is_abandoned(fd: int) -> bool:
    # One made this moment may not be locked yet.
    if time.time() - os.fstat(fd).st_mtime < _YOUNG_S:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _removed(folder: PrivateFolder) -> bool:
    gone = remove(folder.path)
    os.close(folder.fd)
    return gone

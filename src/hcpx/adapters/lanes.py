"""The places of a command's calls, counted over all processes of a store (Spec 04 section 3).

A place is a lock on a file: whatever becomes of who holds it, the system gives it back. Within a process calls wait in
order (`turnstile`); between processes whoever looks first after a place is free has it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from hashlib import sha256
from time import monotonic
from typing import Final, Literal

from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Cancel

from .turnstile import Key

_FIRST_LOOK_S: Final = 0.005
_LOOK_S: Final = 0.1
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Place:
    """One call's place, until the block ends."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


class Lanes:
    """Hands out places below the runtime's `state` folder."""

    def __init__(self, state: str) -> None:
        self._folder = os.path.join(state, "lanes")

    def take(self, key: Key, limit: int, within: float, cancel: Cancel) -> Place | Denial:
        """Wait for one of `limit` places, at most so many seconds; where none can be made, nothing holds the limit."""
        folder = os.path.join(self._folder, _name(key))
        paths = [os.path.join(folder, str(number)) for number in range(limit)]
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            return _waited(paths, within, cancel) or no_place("cancelled" if cancel.cancelled else "busy", limit)
        except OSError as problem:
            why = f"the limit concurrency cannot be held: {(problem.strerror or 'unknown error').lower()}"
            return deny("sandbox_unavailable", why=why)


def no_place(why: Literal["busy", "cancelled"], limit: int) -> Denial:
    """Make the denial of a call that found no place in its time."""
    return deny("cancelled") if why == "cancelled" else deny("busy", limit=f"concurrency {limit}")


def _waited(paths: list[str], within: float, cancel: Cancel) -> Place | None:
    """Look for a free place, ever more seldom, until the time is up or the call is cancelled."""
    until, pause = monotonic() + within, _FIRST_LOOK_S
    woken = threading.Event()
    take_back = cancel.on_cancel(woken.set)
    try:
        while True:
            for path in paths:
                fd = _locked(path)
                if fd is not None:
                    return Place(fd)
            left = until - monotonic()
            if cancel.cancelled or left <= 0:
                return None
            woken.wait(min(pause, left))
            pause = min(pause * 2, _LOOK_S)
    finally:
        take_back()


def _name(key: Key) -> str:
    """Name a folder: ids never become parts of a path, and no two keys meet."""
    parts = b"".join(b"%d:%s" % (len(raw), raw) for raw in (part.encode("utf-8", "surrogatepass") for part in key))
    return sha256(parts).hexdigest()[:32]


def _locked(path: str) -> int | None:
    """Lock a file and return its descriptor, or None where another call holds it."""
    fd = os.open(path, _FLAGS, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(fd)
        if problem.errno in (errno.EAGAIN, errno.EACCES):
            return None
        raise
    return fd

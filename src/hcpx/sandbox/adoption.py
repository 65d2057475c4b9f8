"""How a run's processes are told from everybody else's, and come to us when their parents end.

While a run is on, this process is a "child subreaper": orphans become its children instead of init's. An
orphan is known by a tag that it cannot lose by changing its name, group, session or environment: a value of
RLIMIT_LOCKS, which the kernel has not enforced since 2.4, yet which every process hands on to its children
and only lowers. Each run owns a stretch of values; a runtime inside a run divides its own stretch, so that
tags nest.
"""

from __future__ import annotations

import itertools
import os
import resource
import threading
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    import ctypes

_RLIMIT_LOCKS: Final = 10
_TOP: Final = 2**62
_SLOTS: Final = 2**20
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37


class Tag(msgspec.Struct, frozen=True):
    """A stretch of values: above `low`, at most `high`."""

    low: int
    high: int

    def on(self, pid: int) -> bool:
        """Tell whether a process bears this tag, or one inside of it."""
        try:
            _, most = resource.prlimit(pid, _RLIMIT_LOCKS)
        except OSError:
            most = _from_file(pid)
        return self.low < most <= self.high


def _from_file(pid: int) -> int:
    """Read the tag of a process of another user, whose limits cannot be asked for but may be read."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            line = next(line for line in file if line.startswith(b"Max file locks"))
        return int(line.split()[4])
    except (OSError, StopIteration, ValueError):
        return -1


class _State:
    """What is true of this process; a fork of it starts anew."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runs = 0
        self.was_on = False
        soft, hard = resource.getrlimit(_RLIMIT_LOCKS)
        self.top = _TOP if hard == resource.RLIM_INFINITY else min(hard, _TOP)
        self.base = 0 if hard == resource.RLIM_INFINITY else min(max(soft, 0), self.top)
        self.next = itertools.count(int.from_bytes(os.urandom(4), "big"))


_state = _State()
_libc: ctypes.CDLL | None = None


def _anew() -> None:
    global _state  # noqa: PLW0603 -- a fork has no runs of its own yet
    _state = _State()


os.register_at_fork(after_in_child=_anew)


def begin() -> None:
    """Have orphans come to this process, as long as a run is on."""
    with _state.lock:
        _state.runs += 1
        if _state.runs == 1:
            _state.was_on = _prctl_get()
            _prctl_set(on=True)


def finish() -> None:
    """Take `begin` back."""
    with _state.lock:
        _state.runs -= 1
        if _state.runs == 0 and not _state.was_on:
            _prctl_set(on=False)


def tagged(pid: int) -> Tag | None:
    """Put a tag of its own on a process just started, or return None where that cannot be had."""
    width = (_state.top - _state.base) // _SLOTS
    if width == 0:
        return None
    low = _state.base + next(_state.next) % _SLOTS * width
    try:
        resource.prlimit(pid, _RLIMIT_LOCKS, (low, low + width))
    except OSError:
        return None
    return Tag(low, low + width)


def _prctl(option: int, argument: object) -> None:
    global _libc  # noqa: PLW0603 -- looked up once
    if _libc is None:
        import ctypes  # loaded only by who starts a program

        _libc = ctypes.CDLL(None)
    _libc.prctl(option, argument, 0, 0, 0)


def _prctl_set(*, on: bool) -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, int(on))


def _prctl_get() -> bool:
    import ctypes

    found = ctypes.c_int(0)
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(found))
    return found.value != 0

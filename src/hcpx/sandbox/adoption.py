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
from collections.abc import Callable
from typing import Final

import msgspec

_RLIMIT_LOCKS: Final = 10
_TOP: Final = 2**62
_SLOTS: Final = 2**20
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37


class Tag(msgspec.Struct, frozen=True):
    """A stretch of values: above `low`, at most `high`."""

    low: int
    high: int

    def put_on(self, pid: int) -> None:
        """Put the tag on a process; one that cannot be had (it changed its user) goes without."""
        try:
            resource.prlimit(pid, _RLIMIT_LOCKS, (self.low, self.high))
        except (OSError, ValueError):
            return

    def on(self, pid: int, *, ask_file: bool) -> bool:
        """Tell whether a process bears this tag, or one inside of it.

        Another user's process tells only through a file, which takes longer: `ask_file` wants that too.
        """
        try:
            _, most = resource.prlimit(pid, _RLIMIT_LOCKS)
        except OSError:
            most = _from_file(pid) if ask_file else -1
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
        self.was_on: bool | None = None
        soft, hard = resource.getrlimit(_RLIMIT_LOCKS)
        self.top = _TOP if hard == resource.RLIM_INFINITY else min(hard, _TOP)
        self.base = 0 if hard == resource.RLIM_INFINITY else min(max(soft, 0), self.top)
        self.next = itertools.count(int.from_bytes(os.urandom(4), "big"))


_state = _State()
_libc_prctl: Callable[..., int] | None = None


def _anew() -> None:
    global _state  # noqa: PLW0603 -- a fork has no runs of its own yet
    _state = _State()


os.register_at_fork(after_in_child=_anew)


def begin() -> None:
    """Have orphans come to this process, as long as a run is on."""
    with _state.lock:
        _state.runs += 1
        if _state.runs == 1:
            if _state.was_on is None:
                _state.was_on = _is_subreaper()
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def finish() -> None:
    """Take `begin` back."""
    with _state.lock:
        _state.runs -= 1
        if _state.runs == 0 and not _state.was_on:
            _prctl(_PR_SET_CHILD_SUBREAPER, 0)


def new_tag() -> Tag | None:
    """Return a tag that no other run of this process bears, or None where runs are nested too deep."""
    width = (_state.top - _state.base) // _SLOTS
    if width == 0:
        return None
    low = _state.base + next(_state.next) % _SLOTS * width
    return Tag(low, low + width)


def _prctl(option: int, argument: object) -> None:
    global _libc_prctl  # noqa: PLW0603 -- looked up once
    if _libc_prctl is None:
        import ctypes  # loaded only by who starts a program

        _libc_prctl = ctypes.CDLL(None).prctl
    _libc_prctl(option, argument, 0, 0, 0)


def _is_subreaper() -> bool:
    import ctypes

    found = ctypes.c_int(0)
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(found))
    return found.value != 0

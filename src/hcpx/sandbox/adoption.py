"""How a run's processes are told from everybody else's, and come to us when their parents end.

From its first run on this process is a "child subreaper": orphans become its children instead of init's. An
orphan is known by a tag that it cannot lose by changing its name, group, session or environment: a value of
RLIMIT_LOCKS, which the kernel has not enforced since 2.4, yet which every process hands on to its children
and only lowers. Each run owns a stretch of values; a runtime inside a run divides its own stretch, so that
tags nest.
"""

from __future__ import annotations

import itertools
import os
import resource
import signal
from typing import Final

import msgspec

_RLIMIT_LOCKS: Final = 10
_TOP: Final = 2**62
_SLOTS: Final = 2**20
_PR_SET_CHILD_SUBREAPER: Final = 36


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


class _Tags:
    """The tags that this process may give out; a fork of it begins elsewhere."""

    def __init__(self) -> None:
        soft, hard = resource.getrlimit(_RLIMIT_LOCKS)
        self.top = _TOP if hard == resource.RLIM_INFINITY else min(hard, _TOP)
        self.base = 0 if hard == resource.RLIM_INFINITY else min(max(soft, 0), self.top)
        self.next = itertools.count(int.from_bytes(os.urandom(4), "big"))


_tags = _Tags()
_prepared = False


def _anew() -> None:
    global _tags, _prepared  # noqa: PLW0603 -- a fork shares no tag with its parent and takes nobody in
    _tags = _Tags()
    _prepared = False


os.register_at_fork(after_in_child=_anew)


def prepare() -> str | None:
    """Have orphans come to this process from now on, or say why no program may be started in it."""
    global _prepared  # noqa: PLW0603 -- once in the life of a process
    # Asked each time: what is started inherits it, and then every child of it seems to end well, and bubblewrap waits
    # for ever.
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        return "this process ignores SIGCHLD, so no exit status can be had"
    if _prepared:
        return None
    import ctypes  # loaded only by who starts a program

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _prepared = True
    return None


def new_tag() -> Tag | None:
    """Return a tag that no other run of this process bears, or None where runs are nested too deep."""
    width = (_tags.top - _tags.base) // _SLOTS
    if width == 0:
        return None
    low = _tags.base + next(_tags.next) % _SLOTS * width
    return Tag(low, low + width)

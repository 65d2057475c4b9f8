"""The processes inside a bubblewrap sandbox: whom to ask, whom to kill (Spec 04 section 3).

The outer bubblewrap ends at once when it is signalled and takes nothing along for certain; the namespace's
pid 1 ignores TERM, but with it every process inside dies; the program itself is the second process of the
namespace.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal

import msgspec


class _Status(msgspec.Struct):
    """The first document on bubblewrap's status descriptor."""

    child_pid: int = msgspec.field(name="child-pid")


_STATUS = msgspec.json.Decoder(_Status)


def first_process(status: int, outer: int, timeout_s: float) -> int | None:
    """Read bubblewrap's status until it has told its child's pid; None where it ended before.

    Raises TimeoutError. The document arrives in pieces. The pid is believed only of a child of the outer
    process, which is ours and not waited for yet, so that the number cannot have been given to another.
    """
    poll = select.poll()
    poll.register(status, select.POLLIN)
    told = b""
    while b"}" not in told:
        if not poll.poll(timeout_s * 1000):
            raise TimeoutError
        piece = os.read(status, 4096)
        if not piece:
            return None
        told += piece
    try:
        pid = _STATUS.decode(told.split(b"\n", 1)[0]).child_pid
    except msgspec.MsgspecError:
        return None
    return pid if parent_of(pid) == outer else None


def parent_of(pid: int) -> int | None:
    """Return the parent of a process, None where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rsplit(b")", 1)[1].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def children_of(pid: int) -> list[int]:
    """Return the children of a process."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


class Namespace:
    """The pid namespace of one sandbox, held by a descriptor of its first process."""

    def __init__(self, first: int) -> None:
        self.first = first
        self._handle = os.pidfd_open(first)

    def ask(self) -> None:
        """Ask the program itself to end."""
        for pid in children_of(self.first):
            if _number_inside(pid) == 2:
                with contextlib.suppress(OSError):
                    handle = os.pidfd_open(pid)
                    try:
                        if parent_of(pid) == self.first:  # still the one that was looked at
                            signal.pidfd_send_signal(handle, signal.SIGTERM)
                    finally:
                        os.close(handle)

    def kill(self) -> None:
        """Kill every process inside, at once; more than once is fine."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def gone(self, timeout_s: float) -> bool:
        """Wait until the last process inside has ended; reap the first where it is ours, a subreaper's."""
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        ended = bool(poll.poll(timeout_s * 1000))
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PIDFD, self._handle, os.WEXITED | os.WNOHANG)
        return ended

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._handle)


def _number_inside(pid: int) -> int | None:
    """Return the pid that a process has in its own namespace."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("NSpid:"):
                    return int(line.split()[-1])
    except OSError:
        pass
    return None

"""The processes of one run, and how all of them are ended (Spec 04 section 3).

A process belongs to the run where it is of the leader's group or session, was seen below the leader, bears
the run's tag, or is an orphan that came to us and bears its mark; and so does everything below it. Nothing
else is ever signalled or reaped: the embedding application has children of its own. A process is signalled
through a descriptor, after its start time was compared, so that a number given out again never hits
somebody else.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Final

from . import adoption, proc

_YOUNG_S: Final = 0.25
_PATIENCE_S: Final = 5.0
_MOMENT_S: Final = 0.001


class Tree:
    """The tree below `leader`, just started in its own session; `mark` is a text in its environment."""

    def __init__(self, leader: int, mark: str = "") -> None:
        self._leader = leader
        self._tag = adoption.new_tag()
        self._mark = os.fsencode(mark)
        self._began = time.monotonic()
        self._seen: dict[int, int] = {}
        self._reaped = False
        self.left_running = False
        """Whether anything was still alive when `end` came."""

    def claim(self, put_on: Callable[[int], str | None]) -> str | None:
        """Put limits and the tag on the leader and on what it had started by then; a text refuses the leader.

        What is born later inherits both, so a look that finds nobody without the tag is the last one. Only
        a program that leaves its session and its environment behind in this moment is not found again.
        """
        refusal = put_on(self._leader)
        if refusal is not None or self._tag is None:
            return refusal
        self._tag.put_on(self._leader)
        tried: set[int] = set()
        while early := [row for row in self._members(proc.born_since(self._leader)) if self._is_early(row, tried)]:
            for row in early:
                tried.add(row.pid)
                put_on(row.pid)
                self._tag.put_on(row.pid)
        return None

    def _is_early(self, row: proc.Row, tried: set[int]) -> bool:
        return (
            not row.dead and row.pid not in tried and self._tag is not None and not self._tag.on(row.pid, ask_file=True)
        )

    def ask_to_end(self) -> None:
        """Send TERM to every process of the tree, to a stopped one too, and remember who was there."""
        for row in self._members(proc.everybody()):
            _send(row, signal.SIGTERM)
            _send(row, signal.SIGCONT)

    def reap_orphans(self) -> None:
        """Reap what ended meanwhile, so that a long run leaves no heap of dead processes."""
        for row in self._members(proc.everybody()):
            if row.dead and row.parent == os.getpid() and row.pid != self._leader:
                _reap(row.pid)

    def left(self) -> bool:
        """Tell whether anything but the leader is alive."""
        return any(not row.dead and row.pid != self._leader for row in self._members(proc.everybody()))

    def kill(self) -> None:
        """Kill everything, the leader too; it is not waited for."""
        members = self._frozen(self._members(proc.everybody()))
        for row in members:
            _send(row, signal.SIGKILL)

    def leader_reaped(self) -> None:
        """Note that the leader's number may be given out again."""
        self._reaped = True

    def end(self) -> str | None:
        """End what is left of the tree and reap what is ours to reap, or say what could not be ended."""
        if self._reaped and not _have_children():
            return None
        young = self._reaped and time.monotonic() - self._began < _YOUNG_S
        members = self._members(proc.born_since(self._leader) if young else proc.everybody())
        self.left_running = any(not row.dead for row in members)
        deadline = time.monotonic() + _PATIENCE_S
        while members:
            if time.monotonic() > deadline:
                return "could not be ended: process " + ", ".join(str(row.pid) for row in members)
            for row in self._frozen(members):
                if not row.dead:
                    _send(row, signal.SIGKILL)
                elif row.parent == os.getpid():
                    _reap(row.pid)
            # Ending takes the kernel a moment; the next look must not spin meanwhile.
            time.sleep(_MOMENT_S)
            members = self._members(proc.everybody())
        return None

    def _frozen(self, members: list[proc.Row]) -> list[proc.Row]:
        """Stop everybody, so that nobody starts anything more, and return all that there are then."""
        stopped: set[int] = set()
        while fresh := [row for row in members if not row.dead and row.pid not in stopped]:
            for row in fresh:
                _send(row, signal.SIGSTOP)
                stopped.add(row.pid)
            members = self._members(proc.everybody())
        return members

    def _members(self, pids: Iterable[int]) -> list[proc.Row]:
        """Return the rows of those that are of the tree; a leader that is reaped is not."""
        rows = proc.rows(pids)
        me = os.getpid()
        recycled = self._reaped and self._leader in rows
        found = {pid: row for pid, row in rows.items() if self._is_ours(row, me, recycled=recycled)}
        above = {*found} if self._reaped else {*found, self._leader}
        while below := {pid: row for pid, row in rows.items() if row.parent in above and pid not in found}:
            found.update(below)
            above = {*below}
        self._seen.update((pid, row.start) for pid, row in found.items())
        return list(found.values())

    def _is_ours(self, row: proc.Row, me: int, *, recycled: bool) -> bool:
        if row.pid == self._leader and self._reaped:
            return False
        if self._leader in (row.group, row.session) and not recycled:
            return True
        if self._seen.get(row.pid) == row.start:
            return True
        # Whatever its parent is said to be: that may have ended while the rows were read.
        if self._tag is not None and self._tag.on(row.pid, ask_file=row.parent == me):
            return True
        return row.parent == me and self._mark != b"" and proc.holds(row.pid, self._mark)


def _send(row: proc.Row, number: signal.Signals) -> None:
    try:
        handle = os.pidfd_open(row.pid)
    except OSError:
        return
    try:
        now = proc.row(row.pid)
        if now is not None and now.start == row.start:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        return
    finally:
        os.close(handle)


def _reap(pid: int) -> None:
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        return


def _have_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True

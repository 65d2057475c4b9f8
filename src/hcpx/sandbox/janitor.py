"""Clears up behind runtimes that were killed (Spec 04 section 3: the runtime killed at any moment).

A sandbox dies with its runtime by itself, and its gate never opens without one; what can be left are helpers
that hang before they ran anything, and control groups. They are found by the records of `journal`, and a
process is ended only where pid and start time, or the inode of its stdin, are those on record.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal

import msgspec

from . import cgroup, proc
from .journal import DECODER, FOLDER, Line, Process, boot_id, started_at

_BY_ITSELF_S = 0.5
_END_S = 2.0
_LOOKS = 3


class Swept(msgspec.Struct, frozen=True):
    """What was found: runs that nobody had cleared up behind, and what of them was ended and removed."""

    runs: int = 0
    processes: int = 0
    groups: int = 0


def sweep(state: str) -> Swept:
    """Clear up behind every runtime of this state folder that is no more. Never raises; many may sweep."""
    folder = os.path.join(state, FOLDER)
    swept = Swept()
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                swept = _added(swept, _file(os.path.join(folder, name)))
    return swept


def _added(one: Swept, other: Swept) -> Swept:
    return Swept(one.runs + other.runs, one.processes + other.processes, one.groups + other.groups)


def _file(path: str) -> Swept:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return Swept()  # its runtime lives
        swept = _runs(_open_runs(file.read().splitlines()))
        os.unlink(path)
        return swept


def _open_runs(lines: list[bytes]) -> list[list[Line]]:
    """Return the records of the runs that did not end; a last line that was cut off counts for nothing."""
    runs: dict[int, list[Line]] = {}
    for text in lines:
        with contextlib.suppress(msgspec.MsgspecError):
            line = DECODER.decode(text)
            if line.done:
                runs.pop(line.run, None)
            else:
                runs.setdefault(line.run, []).append(line)
    return list(runs.values())


def _runs(runs: list[list[Line]]) -> Swept:
    here = boot_id()
    swept = Swept()
    for lines in runs:
        if lines[0].boot != here:
            continue  # the machine has started anew: nothing of it can be left
        ended = sum(_end(process) for line in lines for process in line.processes)
        ended += _end_helpers(lines[0].stdin)
        groups = [folder for line in lines for folder in line.groups]
        for folder in groups:
            ended += sum(_end(Process(pid, started_at(pid) or 0)) for pid in cgroup.processes(folder))
            cgroup.remove(folder)
        swept = _added(swept, Swept(1, ended, len(groups)))
    return swept


def _end_helpers(inode: int) -> int:
    """End every process with that stdin. One may start another and end itself while we look elsewhere."""
    ended = empty = 0
    while inode and empty < _LOOKS:
        found = _with_stdin(inode)
        ended += sum(_end(process) for process in found)
        empty = 0 if found else empty + 1
    return ended


def _with_stdin(inode: int) -> list[Process]:
    """Return the processes whose stdin is that socket: none but a run's own can have it."""
    link = f"socket:[{inode}]"
    found: list[Process] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{name}/fd/0") == link and (started := started_at(int(name))) is not None:
                found.append(Process(int(name), started))
    return found


def _kill_below(top: int) -> None:
    """Freeze, then kill, all that descends from a process, so that nothing is started meanwhile."""
    frozen: set[int] = set()
    _signal({top}, signal.SIGSTOP)
    while fresh := _below(top) - frozen:
        _signal(fresh, signal.SIGSTOP)
        frozen |= fresh
    _signal(frozen, signal.SIGKILL)


def _below(top: int) -> set[int]:
    rows = proc.rows(proc.everybody())
    found = {top}
    while more := {pid for pid, row in rows.items() if row.parent in found and not row.dead} - found:
        found |= more
    return found - {top}


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _end(process: Process) -> bool:
    """End a process where it is the recorded one, with all below it, and tell whether that was needed.

    Most see that their runtime has gone and end by themselves, tidily: they get a moment for it.
    """
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        if started_at(process.pid) != process.started:
            return False
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if poll.poll(_BY_ITSELF_S * 1000):
            return False
        _kill_below(process.pid)
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        poll.poll(_END_S * 1000)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)

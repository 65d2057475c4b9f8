"""The limits of one run that the kernel holds for a single program (Spec 04 section 3).

They are put on right after the start: a program's very first moment is without them, and what it has
started by then is caught up with. Only an isolating backend can do better. Memory is bounded per process.
The number of processes is counted by the kernel per user, not per run, and not at all for root: so it is
held, and named as held, only where it was asked for, as so many more than the user has at the start; else a
looser bound keeps a runaway program from taking the machine. One process is exact, whatever else the user
runs: the program can start nothing.
"""

from __future__ import annotations

import os
import resource
import stat
from typing import Final

from hcpx.vocabulary.policy import Limits

from . import proc

_MIB: Final = 1024 * 1024
# What this process may have at most, and so whatever it starts.
_HARD: Final = {
    which: resource.getrlimit(which)[1]
    for which in (
        resource.RLIMIT_CORE,
        resource.RLIMIT_DATA,
        resource.RLIMIT_NOFILE,
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_NPROC,
    )
}
BY_KERNEL: Final = ("memory_mb", "processes", "files", "file_mb")


def refusal(limits: Limits, program: str) -> str | None:
    """Say which limit that was asked for cannot be held here without a sandbox, or None."""
    asked = [name for name in BY_KERNEL if name in limits.asked]
    if not asked:
        return None
    if "processes" in asked and os.getuid() == 0:
        return "the limit processes does not bind root without a sandbox"
    if _changes_user(program):
        return f"the limit {asked[0]} cannot be put on a setuid program"
    return None


def put_on(pid: int, limits: Limits) -> dict[str, float]:
    """Put the limits on a process just started, and return those that hold."""
    held: dict[str, float] = {"timeout_s": limits.timeout_s, "output_bytes": limits.output_bytes}
    _put(pid, resource.RLIMIT_CORE, 0)
    if _put(pid, resource.RLIMIT_DATA, limits.memory_mb * _MIB):
        held["memory_mb"] = limits.memory_mb
    if _put(pid, resource.RLIMIT_NOFILE, limits.files):
        held["files"] = limits.files
    if _put(pid, resource.RLIMIT_FSIZE, limits.file_mb * _MIB):
        held["file_mb"] = limits.file_mb
    if os.getuid() != 0:
        asked = "processes" in limits.asked
        if _put(pid, resource.RLIMIT_NPROC, _most_tasks(limits, asked=asked)) and asked:
            held["processes"] = limits.processes
    return held


def holding(limits: Limits) -> dict[str, float]:
    """Return the limits that `put_on` is going to hold."""
    held: dict[str, float] = {
        "timeout_s": limits.timeout_s,
        "output_bytes": limits.output_bytes,
        "memory_mb": limits.memory_mb,
        "files": limits.files,
        "file_mb": limits.file_mb,
    }
    if os.getuid() != 0 and "processes" in limits.asked:
        held["processes"] = limits.processes
    return held


def _put(pid: int, which: int, value: int) -> bool:
    hard = _HARD[which]
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.prlimit(pid, which, (bound, bound))
    except (OSError, ValueError):
        return False
    return True


def _changes_user(program: str) -> bool:
    try:
        mode = os.stat(program).st_mode
    except OSError:
        return False
    return bool(mode & (stat.S_ISUID | stat.S_ISGID))


def _most_tasks(limits: Limits, *, asked: bool) -> int:
    if not asked:
        return _tasks() + limits.processes
    return 1 if limits.processes == 1 else _tasks_of_user() + limits.processes


def _tasks() -> int:
    """Return how many tasks there are on the machine: never less than this user has."""
    load = proc.content("/proc/loadavg") or b"0 0 0 0/0 0"
    return int(load.split()[3].partition(b"/")[2])


def _tasks_of_user() -> int:
    """Return how many tasks of this user can be seen."""
    me = os.getuid()
    count = 0
    for pid in proc.everybody():
        fields = dict(
            line.split(b":", 1)
            for line in (proc.content(f"/proc/{pid}/status") or b"").splitlines()
            if line.startswith((b"Uid:", b"Threads:"))
        )
        if fields.get(b"Uid", b"-1").split()[0] == str(me).encode():
            count += int(fields.get(b"Threads", b"1"))
    return count

"""What `/proc` tells of processes."""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec


class Row(msgspec.Struct, frozen=True):
    """One process: `start` is in clock ticks since boot, so (pid, start) names it for good."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start: int

    @property
    def dead(self) -> bool:
        """Whether it only waits to be reaped."""
        return self.state in "ZX"


def content(path: str, most: int = 4096) -> bytes | None:
    """Return the beginning of a file of `/proc`, or None where it cannot be read: its process has gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, most)
    except OSError:
        return None
    finally:
        os.close(fd)


def row(pid: int) -> Row | None:
    """Return the row of a process, or None where there is none of that number."""
    data = content(f"/proc/{pid}/stat")
    if not data:
        return None
    # The name stands in brackets and may hold anything, brackets too: what counts comes behind the last.
    fields = data[data.rindex(b")") + 2 :].split()
    return Row(pid, chr(fields[0][0]), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def rows(pids: Iterable[int]) -> dict[int, Row]:
    """Return the rows of those that exist."""
    return {pid: found for pid in pids if (found := row(pid)) is not None}


def everybody() -> list[int]:
    """Return the number of every process that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def holds(pid: int, mark: bytes) -> bool:
    """Tell whether the environment that a process was started with holds `mark`."""
    try:
        fd = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    found = b""
    try:
        while part := os.read(fd, 65536):
            found += part
    except OSError:
        return False
    finally:
        os.close(fd)
    return mark in found


_RECENT = 512
_span = 0
_plain = False


def born_since(pid: int) -> Iterable[int]:
    """Return the few numbers given out after `pid`, or every process where that cannot be told.

    Numbers are given out in a circle, so this holds only while it cannot have come round: ask early.
    """
    global _span, _plain  # noqa: PLW0603 -- two facts of the machine, read once
    if _span == 0:
        _span = int(content("/proc/sys/kernel/pid_max") or b"1")
        # A container may lay a made-up file over the real one: then it is of another file system.
        _plain = os.stat("/proc/loadavg").st_dev == os.stat("/proc").st_dev
    load = content("/proc/loadavg") if _plain else None
    if not load:
        return everybody()
    count = (int(load[load.rindex(b" ") + 1 :]) - pid) % _span
    if count > _RECENT:
        return everybody()
    return [(pid + step) % _span for step in range(1, count + 1)]

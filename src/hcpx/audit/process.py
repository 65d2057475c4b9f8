"""Which process holds something, said so that a later one can tell whether it still runs."""

from __future__ import annotations

import os
from typing import ClassVar

_BOOT = "/proc/sys/kernel/random/boot_id"
_ENDED = (b"Z", b"X")


class Processes:
    """Names this process, and tells whether a call of a named one runs.

    A name is boot, namespace of process numbers, number and start time: a number that is used again, also
    after a restart of the machine, is not taken for the same process.
    """

    _calls: ClassVar[set[str]] = set()
    """The calls of this process that run, by audit id; one set however many runtimes it holds."""

    def __init__(self) -> None:
        self._mine: tuple[int, str] = (0, "")

    def mine(self) -> str:
        """Return the name of the calling process."""
        pid = os.getpid()
        if self._mine[0] != pid:
            started = _started(pid)
            self._mine = (pid, f"{_boot()} {_namespace()} {pid} {started or 0}")
        return self._mine[1]

    def begin(self, audit_id: str) -> None:
        """Note that a call of this process runs."""
        self._calls.add(audit_id)

    def end(self, audit_id: str) -> None:
        """Note that it has ended, whether its outcome can be recorded or not."""
        self._calls.discard(audit_id)

    def runs(self, name: str, audit_id: str) -> bool:
        """Tell whether that call of that process runs; one of another container here counts as running."""
        if name == self.mine():
            return audit_id in self._calls
        try:
            boot, namespace, pid, started = name.split(" ")
            number = int(pid)
        except ValueError:
            return False
        if boot != _boot():
            return False
        if namespace != _namespace():
            return True
        return _started(number) == int(started)


def _boot() -> str:
    try:
        with open(_BOOT, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return "-"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "-"


def _started(pid: int) -> int | None:
    """Return when a process started, in the kernel's ticks, or None where it does not run."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if not fields or fields[0] in _ENDED else int(fields[19])

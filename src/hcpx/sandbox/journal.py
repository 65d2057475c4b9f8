"""What a running runtime has started and made, written down before it matters (Spec 04 section 3).

One file for each runtime process, locked as long as that lives, one JSON line for each event. After a crash
the next runtime finds the file unlocked and clears up by what it says (`janitor`): recorded pids with their
start times, the inode of the socket that is a helper's stdin, control groups. Never by a program's name.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading

import msgspec

FOLDER = "running"


class Process(msgspec.Struct, frozen=True):
    """A process for certain: its pid, and the clock tick (since boot) at which it started."""

    pid: int
    started: int


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One event of a run: what was made, what was started, or that all of it is gone."""

    run: int
    boot: str = ""
    stdin: int = 0
    processes: tuple[Process, ...] = ()
    groups: tuple[str, ...] = ()
    done: bool = False


_ENCODER = msgspec.json.Encoder()
DECODER = msgspec.json.Decoder(Line)


def boot_id() -> str:
    """Return what names this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def started_at(pid: int) -> int | None:
    """Return the clock tick at which a process started, None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rsplit(b")", 1)[1].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def identify(*pids: int) -> tuple[Process, ...]:
    """Return the processes that exist."""
    return tuple(Process(pid, started) for pid in pids if (started := started_at(pid)) is not None)


class Journal:
    """A file of this process's own. All methods may be called from any thread, and after a fork."""

    def __init__(self, state: str) -> None:
        self._folder = os.path.join(state, FOLDER)
        self._lock = threading.Lock()
        self._file = -1
        self._path = ""
        self._owner = 0
        self._last = 0
        self._open: set[int] = set()

    def begin(self, *, stdin: int, groups: tuple[str, ...] = ()) -> int:
        """Record what a run made, before it starts anything; returns the run's number. Raises OSError."""
        with self._lock:
            if self._owner != os.getpid():
                self._create()
            self._last += 1
            run = self._last
            self._open.add(run)
            self._write(Line(run, boot_id(), stdin=stdin, groups=groups))
        return run

    def started(self, run: int, *pids: int) -> None:
        """Record the processes of a run, before they may do anything. Raises OSError."""
        with self._lock:
            self._write(Line(run, processes=identify(*pids)))

    def done(self, run: int) -> None:
        """Record that nothing of a run is left. A file without open runs is emptied."""
        with self._lock, contextlib.suppress(OSError):
            self._open.discard(run)
            if self._open:
                self._write(Line(run, done=True))
            else:
                os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Take the file away where nothing runs."""
        with self._lock:
            if self._owner == os.getpid() and not self._open:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._path)
                os.close(self._file)
                self._owner = 0

    def _create(self) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        pid = os.getpid()
        self._path = os.path.join(self._folder, f"{pid}-{os.urandom(8).hex()}")
        self._file = _locked(self._path)
        self._owner = pid
        self._open.clear()

    def _write(self, line: Line) -> None:
        text = _ENCODER.encode(line) + b"\n"
        if os.write(self._file, text) != len(text):
            raise OSError(f"{self._path}: no space for a record")


def _locked(path: str) -> int:
    """Make the file and lock it; where a janitor found it without its lock and took it away, make it anew."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        file = os.open(path, flags, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:
            return file
        os.close(file)

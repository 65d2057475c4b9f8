"""Starts a program and sees it to its end: the only module that starts a process (Spec 04).

How to use it: `run(Command(...), Care())` starts the program and returns `Finished`, or `NotStarted` where
nothing ran. No shell; a session of its own; descriptors 0, 1, 2 and `pass_fds` only (under the same
numbers); default handling of SIGPIPE; stdin is `/dev/null` unless `stdin` is an open descriptor. The answer
comes when the program itself ends, plus at most `DRAIN_S` for what is still in the pipes. At the deadline
or at cancel the program is asked to end (`Care.ask`), and after `GRACE_S` it and its whole tree are killed.
Whatever happens, also an exception in a callback, nothing of the tree is alive when `run` returns.

A backend subclasses `Care` for what differs: `started` runs right after the start, in the same thread and
before anything is awaited (set limits, read what a helper reports, open a gate); `put_on` is called for
what the program had started by then; `ask` sends the polite signal; `kill` comes before the kill of the
tree, for processes that can be reached through a descriptor only.

For a program that a helper process starts for us, `capture.Capture` drains its pipes all the same.
"""

from __future__ import annotations

import _posixsubprocess
import errno
import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from hcpx.vocabulary.invocation import Cancel

from . import adoption
from .capture import Capture
from .course import DRAIN_S, GRACE_S, Care, Finished, Started
from .faults import why_not_started
from .job import NotStarted

__all__ = ["DRAIN_S", "GRACE_S", "Care", "Command", "Finished", "run"]

_BUSY_PAUSES_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
# No code of ours runs in the child; up to Python 3.13 vfork is asked for.
_VFORK: Final[tuple[Any, ...]] = (None,) if sys.version_info >= (3, 14) else (None, True)
_OUT_OF: Final = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
_HARMLESS: Final = frozenset({signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH})


class Command(msgspec.Struct, frozen=True):
    """What to start. `argv` holds the program's own name too, `env` is the whole environment.

    `directory` is the descriptor of the working directory (-1: the root directory). Of each stream the first
    `keep` bytes come back. `mark` is a text that stands in the `env` of this run and of no other: an orphan
    is known by it.
    """

    executable: str
    argv: tuple[str, ...]
    env: dict[str, str]
    timeout_s: float
    keep: int
    cancel: Cancel
    directory: int = -1
    stdin: int = -1
    pass_fds: tuple[int, ...] = ()
    on_output: Callable[[str, bytes], None] | None = None
    mark: str = ""

    def __repr__(self) -> str:
        """Name the program, never its arguments or environment."""
        return f"Command({self.executable!r}, ...)"


def run(command: Command, care: Care | None = None) -> Finished | NotStarted:
    """Run a program to its end, with nothing of its tree alive afterwards."""
    deadline = time.monotonic() + command.timeout_s
    refusal = adoption.prepare()
    if refusal is not None:
        return NotStarted("sandbox_unavailable", refusal)
    try:
        wake = _Wake()
    except OSError as problem:
        return _unavailable(problem)
    take_back = command.cancel.on_cancel(wake)
    try:
        started = _start(command)
        if isinstance(started, NotStarted):
            return started
        with started:
            return started.see_to_end(care or Care(), deadline, wake.fd)
    finally:
        take_back()
        wake.close()


class _Wake:
    """A descriptor that becomes readable at cancel, from whatever thread that comes, however late."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0)
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            if self.fd >= 0:
                os.eventfd_write(self.fd, 1)

    def close(self) -> None:
        with self._lock:
            os.close(self.fd)
            self.fd = -1


def _start(command: Command) -> Started | NotStarted:
    opened: list[int] = []
    try:
        for _ in range(2):
            opened.extend(os.pipe())
        pid = _born(command, opened[1], opened[3])
        if isinstance(pid, NotStarted):
            return pid
        pidfd = _pidfd(pid)
        capture = Capture(opened[0], opened[2], command.keep, command.on_output)
        opened[:] = opened[1::2]
        return Started(pid, pidfd, capture, command.mark)
    except OSError as problem:
        return _unavailable(problem)
    finally:
        for fd in opened:
            os.close(fd)


def _born(command: Command, stdout: int, stderr: int) -> int | NotStarted:
    """Start the program, again where its file was busy, and return its number."""
    try:
        # UTF-8 whatever the locale says; bytes of file names go back as they came.
        argv = [part.encode("utf-8", "surrogateescape") for part in command.argv]
        env = [f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in command.env.items()]
    except UnicodeEncodeError:
        return NotStarted("not_executable", "an argument or variable holds a lone surrogate")
    if b"\0" in b"".join((*argv, *env)) or "=" in "".join(command.env):
        return NotStarted("not_executable", "an argument or variable that no program can be given")
    stdin = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC) if command.stdin < 0 else command.stdin
    closed = _open_mask()
    try:
        streams = (stdin, stdout, stderr)
        born = _fork_exec(command, argv, env, streams)
        for pause in _BUSY_PAUSES_S:
            if not isinstance(born, _Failure) or born.number != errno.ETXTBSY:
                break
            # Where a thread forks just now, its child may hold the file open for writing for a moment.
            time.sleep(pause)
            born = _fork_exec(command, argv, env, streams)
    finally:
        if closed:
            signal.pthread_sigmask(signal.SIG_SETMASK, closed)
        if command.stdin < 0:
            os.close(stdin)
    return _not_started(command, born) if isinstance(born, _Failure) else born


class _Failure(msgspec.Struct, frozen=True):
    """What the child reported instead of becoming the program: an errno, and whether `chdir` was to blame."""

    number: int
    of_directory: bool


def _fork_exec(command: Command, argv: list[bytes], env: list[bytes], streams: tuple[int, int, int]) -> int | _Failure:
    """Start a process by the primitive beneath `subprocess`: vfork, whatever the size of this process.

    `subprocess` costs a twentieth of a small program's whole life, and ten times that to be imported.
    """
    directory = "/" if command.directory < 0 else f"/proc/self/fd/{command.directory}"
    sys.audit("subprocess.Popen", command.executable, argv, directory, None)
    reader, writer = os.pipe()
    try:
        if writer <= 2:
            # The child lays its streams over 0, 1 and 2 before it could report.
            low, writer = writer, fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(low)
        pid = _posixsubprocess.fork_exec(
            argv,
            (os.fsencode(command.executable),),
            True,  # noqa: FBT003 -- all other descriptors are closed
            tuple(sorted((*command.pass_fds, writer))),
            directory,
            env,
            *(streams[0], -1, -1, streams[1], -1, streams[2], reader, writer),
            *(True, True),  # default handling of SIGPIPE and the like; a session of its own
            *(-1, None, None, None, -1),  # group, user, groups and umask stay as they are
            *_VFORK,
        )
        os.close(writer)
        writer = -1
        report = os.read(reader, 256)
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    if not report:
        return pid
    os.waitid(os.P_PID, pid, os.WEXITED)
    # The report reads `OSError:<errno in hex>:<noexec where the program was not reached>`.
    _, number, where = report.split(b":", 2)
    return _Failure(int(number, 16), where.startswith(b"noexec"))


def _open_mask() -> set[int]:
    """Unblock what this thread blocks, so that the program does not inherit it; returns the mask to set back.

    A signal that would end this very process by default stays blocked: somebody waits for it elsewhere.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    if blocked:
        free = {one for one in blocked if one in _HARMLESS or signal.getsignal(one) is not signal.SIG_DFL}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, free)
    return blocked


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        # It has ended, and another part of this process took its status: anything readable tells as much.
        return os.eventfd(1)
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED)
        raise


def _not_started(command: Command, failure: _Failure) -> NotStarted:
    problem = OSError(failure.number, os.strerror(failure.number))
    if failure.number in _OUT_OF:
        return _unavailable(problem)
    if failure.of_directory:
        return NotStarted("not_executable", f"working directory gone ({problem.strerror})")
    return NotStarted("not_executable", why_not_started(command.executable, problem))


def _unavailable(problem: OSError) -> NotStarted:
    return NotStarted("sandbox_unavailable", f"no process can be started: {os.strerror(problem.errno or 0)}")

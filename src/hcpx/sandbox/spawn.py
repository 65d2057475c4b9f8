"""Starts a program and sees it to its end: the only module that starts a process (Spec 04 sections 2 and 3).

How to use it: `run(Command(...), Care())` starts the program and returns `Finished`, or `NotStarted` where
nothing ran. No shell; a session of its own; descriptors 0, 1, 2 and `pass_fds` only (under the same
numbers); default handling of SIGPIPE; stdin is `/dev/null` unless `stdin` is an open descriptor. The answer
comes when the program itself ends, plus at most `DRAIN_S` for what is still in the pipes. At the deadline
or at cancel the program is asked to end (`Care.ask`), and after `GRACE_S` it and its whole tree are killed.
Whatever happens, also an exception in a callback, nothing of the tree is alive when `run` returns.

A backend subclasses `Care` for what differs: `started` runs right after the start, in the same thread and
before anything is awaited (set limits, read what a helper reports, open a gate); `ask` sends the polite
signal; `kill` comes before the kill of the tree, for processes that can be reached through a descriptor
only.

For a program that a helper process starts for us, `capture.Capture` drains its pipes all the same.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from hcpx.vocabulary.invocation import Cancel, Enforced

from . import adoption
from .capture import Capture, Event
from .faults import why_not_started
from .job import Ended, NotStarted
from .tree import Tree

if TYPE_CHECKING:
    import subprocess

How = Literal["exit", "timeout", "cancelled"]

GRACE_S: Final = 2.0
DRAIN_S: Final = 0.1
UNKNOWN_STATUS: Final = 255
_HOW: Final[dict[Event, How]] = {"ended": "exit", "late": "timeout", "woken": "cancelled"}
_STATUS: Final = {"timeout": 124, "cancelled": 130}
_BUSY_PAUSES_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, None)
_OUT_OF: Final = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
_LOOK_S: Final = 0.02
_ABANDON_S: Final = 5.0


class Command(msgspec.Struct, frozen=True):
    """What to start. `argv` holds the program's own name too, `env` is the whole environment.

    `directory` is the descriptor of the working directory (-1: the root directory). Of each stream the
    first `keep` bytes come back. `mark` is a text that stands in the `env` of this run and of no other: an
    orphan is known by it.
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


class Care:
    """What a backend does at the turns of a run; this one adds nothing."""

    def started(self, pid: int) -> str | None:  # noqa: ARG002 -- for those who need it
        """Do what must be done right after the start; a text refuses: all is killed, as if not started."""
        return None

    def ask(self, tree: Tree) -> None:
        """Ask the program to end."""
        tree.ask_to_end()

    def kill(self) -> None:
        """End what the kill of the tree cannot reach."""
        return


class Finished(msgspec.Struct, frozen=True):
    """How a program ended. `status` is its own (128+N for signal N), whatever `how` says."""

    how: How
    status: int
    stdout: bytes
    stderr: bytes
    stdout_size: int
    stderr_size: int
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Tell the end, never the output."""
        return f"Finished({self.how!r}, {self.status})"

    def ended(self, enforced: Enforced) -> Ended:
        """Return this as a backend answers it: 124 after a timeout, 130 after a cancel."""
        status = _STATUS.get(self.how, self.status)
        sizes = self.stdout_size, self.stderr_size
        return Ended(self.how, status, self.stdout, self.stderr, *sizes, enforced, self.warnings)


def run(command: Command, care: Care | None = None) -> Finished | NotStarted:
    """Run a program to its end, with nothing of its tree alive afterwards."""
    deadline = time.monotonic() + command.timeout_s
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        return NotStarted("sandbox_unavailable", "this process ignores SIGCHLD, so no exit status can be had")
    try:
        wake = _Wake()
    except OSError as problem:
        return _unavailable(problem)
    take_back = command.cancel.on_cancel(wake)
    adoption.begin()
    try:
        started = _start(command)
        if isinstance(started, NotStarted):
            return started
        with started:
            return started.see_to_end(care or Care(), deadline, wake.fd)
    finally:
        adoption.finish()
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


class _Started:
    """A started program and the way to its end; as a context it leaves nothing alive and nothing open."""

    def __init__(self, process: subprocess.Popen[bytes], pidfd: int, capture: Capture, mark: str) -> None:
        self._process = process
        self._pidfd = pidfd
        self._capture = capture
        self._tree = Tree(process.pid, mark)
        self._care = Care()
        self._over = False
        self._stuck: str | None = None
        self._status: int | None = None

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        try:
            if not self._over:
                self._end()
        finally:
            self._capture.close()
            os.close(self._pidfd)

    def see_to_end(self, care: Care, deadline: float, wake: int) -> Finished | NotStarted:
        self._care = care
        refusal = care.started(self._process.pid)
        if refusal is not None:
            return NotStarted("sandbox_unavailable", refusal)
        event = self._capture.until_end(self._pidfd, deadline, wake, self._tree.reap_orphans)
        if event == "ended":
            self._capture.rest(DRAIN_S)
        else:
            self._persuade()
        self._end()
        self._capture.rest(DRAIN_S)
        return self._finished(event)

    def _persuade(self) -> None:
        """Ask the program to end, and give it and what it started the grace to do so."""
        self._care.ask(self._tree)
        until = time.monotonic() + GRACE_S
        if self._capture.until_end(self._pidfd, until) == "ended":
            while time.monotonic() < until and self._tree.left():
                self._capture.idle(_LOOK_S)

    def _end(self) -> None:
        """End the whole tree, first the program where it still runs, and reap it."""
        self._care.kill()
        if not self._wait(os.WNOWAIT):
            self._tree.kill()
            self._capture.until_end(self._pidfd, time.monotonic() + _ABANDON_S)
        if self._wait():
            self._tree.leader_reaped()
        self._stuck = self._tree.end()
        self._over = True

    def _wait(self, flags: int = 0) -> bool:
        """Tell whether the program has ended; without flags, reap it and note its status."""
        try:
            end = os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED | os.WNOHANG | flags)
        except ChildProcessError:
            # Some other part of this process took the status: Popen need not look for it any more.
            self._process.returncode = UNKNOWN_STATUS
            return True
        if end is None:
            return False
        if not flags:
            self._status = end.si_status if end.si_code == os.CLD_EXITED else 128 + end.si_status
            self._process.returncode = self._status
        return True

    def _finished(self, event: Event) -> Finished:
        warnings: list[str] = []
        if self._tree.left_running and event == "ended":
            warnings.append("processes that it left running were ended")
        if self._stuck:
            warnings.append(self._stuck)
        if self._status is None:
            warnings.append("its exit status is unknown: another part of the runtime's process took it")
        status = UNKNOWN_STATUS if self._status is None else self._status
        kept = self._capture.stdout, self._capture.stderr
        return Finished(_HOW[event], status, *kept, *self._capture.sizes, tuple(warnings))


def _start(command: Command) -> _Started | NotStarted:
    opened: list[int] = []
    try:
        for _ in range(2):
            opened.extend(os.pipe())
        process = _popen(command, opened[1], opened[3])
        if isinstance(process, NotStarted):
            return process
        pidfd = _pidfd(process)
        capture = Capture(opened[0], opened[2], command.keep, command.on_output)
        opened[:] = opened[1::2]
        return _Started(process, pidfd, capture, command.mark)
    except OSError as problem:
        return _unavailable(problem)
    finally:
        for fd in opened:
            os.close(fd)


def _popen(command: Command, stdout: int, stderr: int) -> subprocess.Popen[bytes] | NotStarted:
    import subprocess  # loaded only by who starts a program

    try:
        argv = [_encoded(part) for part in command.argv]
        env = {_encoded(name): _encoded(value) for name, value in command.env.items()}
    except UnicodeEncodeError:
        return NotStarted("not_executable", "an argument or variable holds a lone surrogate")
    directory = "/" if command.directory < 0 else f"/proc/self/fd/{command.directory}"
    closed = _open_mask()
    try:
        for pause in _BUSY_PAUSES_S:
            try:
                return subprocess.Popen(  # noqa: S603 -- the program was decided by the allow-list
                    argv,
                    executable=os.fsencode(command.executable),
                    stdin=subprocess.DEVNULL if command.stdin < 0 else command.stdin,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=directory,
                    env=env,
                    start_new_session=True,
                    pass_fds=command.pass_fds,
                )
            except OSError as problem:
                if problem.errno != errno.ETXTBSY or pause is None:
                    return _not_started(command, problem, directory)
            # Where a thread forks just now, its child may hold the file open for writing for a moment.
            time.sleep(pause)
    except ValueError:
        return NotStarted("not_executable", "an argument or variable holds a NUL")
    finally:
        if closed:
            signal.pthread_sigmask(signal.SIG_SETMASK, closed)
    raise AssertionError  # the last pause is None


def _encoded(text: str) -> bytes:
    """Encode for the program: UTF-8 whatever the locale says; bytes of file names go back as they came."""
    return text.encode("utf-8", "surrogateescape")


def _open_mask() -> set[int]:
    """Unblock what this thread blocks, so that the program does not inherit it; returns the mask to set back.

    A signal that would end this very process by default stays blocked: somebody waits for it elsewhere.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    if blocked:
        harmless = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
        free = {one for one in blocked if one in harmless or signal.getsignal(one) is not signal.SIG_DFL}
        signal.pthread_sigmask(signal.SIG_UNBLOCK, free)
    return set(blocked)


def _pidfd(process: subprocess.Popen[bytes]) -> int:
    try:
        return os.pidfd_open(process.pid)
    except OSError:
        process.kill()
        process.wait()
        raise


def _not_started(command: Command, problem: OSError, directory: str) -> NotStarted:
    if problem.errno in _OUT_OF:
        return _unavailable(problem)
    if problem.filename == directory:
        return NotStarted("not_executable", f"working directory gone ({os.strerror(problem.errno or 0)})")
    return NotStarted("not_executable", why_not_started(command.executable, problem))


def _unavailable(problem: OSError) -> NotStarted:
    return NotStarted("sandbox_unavailable", f"no process can be started: {os.strerror(problem.errno or 0)}")

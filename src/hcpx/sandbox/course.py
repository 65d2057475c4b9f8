"""A started program and the way to its end (Spec 04 section 3)."""

from __future__ import annotations

import os
import time
from typing import Final, Literal

import msgspec

from hcpx.vocabulary.invocation import Enforced

from .capture import Capture, Event
from .job import Ended, NotStarted
from .tree import Tree

How = Literal["exit", "timeout", "cancelled"]

GRACE_S: Final = 2.0
DRAIN_S: Final = 0.1
UNKNOWN_STATUS: Final = 255
_HOW: Final[dict[Event, How]] = {"ended": "exit", "late": "timeout", "woken": "cancelled"}
_STATUS: Final = {"timeout": 124, "cancelled": 130}
_AT_ONCE: Final = 0.0
_LOOK_S: Final = 0.02
_ABANDON_S: Final = 5.0


class Care:
    """What a backend does at the turns of a run; this one adds nothing."""

    def started(self, pid: int) -> str | None:  # noqa: ARG002 -- for those who need it
        """Do what must be done right after the start; a text refuses: all is killed, as if not started."""
        return None

    def put_on(self, pid: int) -> str | None:  # noqa: ARG002 -- for those who need it
        """Put limits on the program, or on a process that it had started before; a text refuses as `started` does.

        It is not called where the program has ended by then.
        """
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


class Started:
    """A started program; as a context it leaves nothing alive and nothing open."""

    def __init__(self, pid: int, pidfd: int, capture: Capture, mark: str) -> None:
        self._pid = pid
        self._pidfd = pidfd
        self._capture = capture
        self._tree = Tree(pid, mark)
        self._care = Care()
        self._over = False
        self._stuck: str | None = None
        self._status: int | None = None

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        try:
            if not self._over:
                self._end(alive=True)
        finally:
            self._capture.close()
            os.close(self._pidfd)

    def see_to_end(self, care: Care, deadline: float, wake: int) -> Finished | NotStarted:
        """Wait for the program's end, brought about at the monotonic `deadline` or by `wake`."""
        self._care = care
        refusal = care.started(self._pid)
        if refusal is not None:
            return NotStarted("sandbox_unavailable", refusal)
        event = self._capture.until_end(self._pidfd, _AT_ONCE)
        if event == "late" or self._capture.is_open:
            refusal = self._tree.claim(care.put_on)
            if refusal is not None:
                return NotStarted("sandbox_unavailable", refusal)
        if event == "late":
            event = self._capture.until_end(self._pidfd, deadline, wake, self._tree.reap_orphans)
        if event == "ended":
            self._capture.rest(DRAIN_S)
        else:
            self._persuade()
        self._end(alive=event != "ended")
        self._capture.rest(DRAIN_S)
        return self._finished(event)

    def _persuade(self) -> None:
        """Ask the program to end, and give it and what it started the grace to do so."""
        self._care.ask(self._tree)
        until = time.monotonic() + GRACE_S
        if self._capture.until_end(self._pidfd, until) == "ended":
            while time.monotonic() < until and self._tree.left():
                self._capture.idle(_LOOK_S)

    def _end(self, *, alive: bool) -> None:
        """End the whole tree, first the program where it may still be `alive`, and reap it."""
        self._care.kill()
        if alive and not self._wait(os.WNOWAIT):
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
        except OSError:
            # Some other part of this process took the status.
            return True
        if end is None:
            return False
        if not flags:
            self._status = end.si_status if end.si_code == os.CLD_EXITED else 128 + end.si_status
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

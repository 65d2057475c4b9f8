"""Drains a program's two streams together and keeps the head of each (Spec 04 section 3)."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import Final, Literal

_CHUNK: Final = 65536
_TICK_S: Final = 1.0

Event = Literal["ended", "late", "woken"]
OnRaw = Callable[[str, bytes], None]


class _Stream:
    __slots__ = ("kept", "name", "room", "size")

    def __init__(self, name: str, keep: int) -> None:
        self.name = name
        self.room = keep
        self.kept: list[bytes] = []
        self.size = 0

    def take(self, data: bytes) -> None:
        self.size += len(data)
        if self.room:
            part = data[: self.room]
            self.kept.append(part)
            self.room -= len(part)


class Capture:
    """The two streams of one run: the first `keep` bytes of each are kept, the rest is read and counted.

    `on_output` is called with `stdout` or `stderr` and the bytes of every read.
    """

    def __init__(self, stdout: int, stderr: int, keep: int, on_output: OnRaw | None = None) -> None:
        self._streams = {stdout: _Stream("stdout", keep), stderr: _Stream("stderr", keep)}
        self._out, self._err = self._streams[stdout], self._streams[stderr]
        self._open = set(self._streams)
        self._poll = select.poll()
        self._on_output = on_output
        for fd in self._streams:
            self._poll.register(fd, select.POLLIN)

    def until_end(self, pidfd: int, deadline: float, wake: int = -1, tick: Callable[[], None] | None = None) -> Event:
        """Drain until the process ends, the monotonic `deadline` is past or `wake` is written to.

        `tick` is called about once a second.
        """
        self._poll.register(pidfd, select.POLLIN)
        if wake >= 0:
            self._poll.register(wake, select.POLLIN)
        try:
            return self._until_end(pidfd, deadline, wake, tick)
        finally:
            self._poll.unregister(pidfd)
            if wake >= 0:
                self._poll.unregister(wake)

    def _until_end(self, pidfd: int, deadline: float, wake: int, tick: Callable[[], None] | None) -> Event:
        next_tick = time.monotonic() + _TICK_S
        while True:
            ready = self._poll.poll(max(0.0, min(deadline, next_tick) - time.monotonic()) * 1000)
            found: set[int] = set()
            for fd, event in ready:
                if fd in self._streams:
                    self._read(fd, event)
                else:
                    found.add(fd)
            if pidfd in found:
                return "ended"
            if wake in found:
                return "woken"
            now = time.monotonic()
            if now >= deadline:
                return "late"
            if now >= next_tick:
                next_tick = now + _TICK_S
                if tick is not None:
                    tick()

    @property
    def is_open(self) -> bool:
        """Whether anybody may still write."""
        return bool(self._open)

    def rest(self, within: float) -> None:
        """Read what is still in the pipes, until every writer has gone, at most for so many seconds."""
        deadline = time.monotonic() + within
        while self._open:
            ready = self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
            for fd, event in ready:
                self._read(fd, event)
            if not ready or time.monotonic() > deadline:
                return

    def idle(self, seconds: float) -> None:
        """Drain for so long, whether anybody still writes or not."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            for fd, event in self._poll.poll(left * 1000):
                self._read(fd, event)

    def close(self) -> None:
        """Close both streams."""
        for fd in self._streams:
            os.close(fd)

    def _read(self, fd: int, event: int) -> None:
        data = os.read(fd, _CHUNK) if event & select.POLLIN else b""
        if not data:
            self._poll.unregister(fd)
            self._open.discard(fd)
            return
        stream = self._streams[fd]
        stream.take(data)
        if self._on_output is not None:
            self._on_output(stream.name, data)

    @property
    def stdout(self) -> bytes:
        """What was kept of stdout."""
        return b"".join(self._out.kept)

    @property
    def stderr(self) -> bytes:
        """What was kept of stderr."""
        return b"".join(self._err.kept)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many bytes came, kept or not: stdout, stderr."""
        return self._out.size, self._err.size

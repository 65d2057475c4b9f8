"""Lets so many calls of one command run at once, the others in order of their coming (Spec 04 section 3)."""

from __future__ import annotations

import threading
from collections import deque
from typing import Literal

from hcpx.vocabulary.invocation import Cancel

Key = tuple[str, str, str]


class _Waiting:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.admitted = False
        self.wake = threading.Event()


class _Lane:
    def __init__(self) -> None:
        self.running = 0
        self.waiting: deque[_Waiting] = deque()

    def admit(self) -> None:
        while self.waiting and self.running < self.waiting[0].limit:
            first = self.waiting.popleft()
            first.admitted = True
            self.running += 1
            first.wake.set()


class Turnstile:
    """Counts the running calls of each key in this process; a call brings the limit of its own Policy row."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lanes: dict[Key, _Lane] = {}

    def enter(self, key: Key, limit: int, within: float, cancel: Cancel) -> Literal["in", "busy", "cancelled"]:
        """Wait for a place, at most so many seconds. After `in`, and only then, `leave` is owed."""
        with self._lock:
            lane = self._lanes.get(key)
            if lane is None:
                lane = self._lanes[key] = _Lane()
            if lane.running < limit and not lane.waiting:
                lane.running += 1
                return "in"
            waiting = _Waiting(limit)
            lane.waiting.append(waiting)
        self._wait(key, waiting, within, cancel)
        if waiting.admitted:
            return "in"
        return "cancelled" if cancel.cancelled else "busy"

    def leave(self, key: Key) -> None:
        """Give the place to the next one."""
        with self._lock:
            self._lanes[key].running -= 1
            self._settle(key)

    def _wait(self, key: Key, waiting: _Waiting, within: float, cancel: Cancel) -> None:
        take_back = cancel.on_cancel(waiting.wake.set)
        try:
            waiting.wake.wait(within)
        except BaseException:
            # Interrupted: whoever asked does not come back for the place, if it was given just now.
            with self._lock:
                if waiting.admitted:
                    self._lanes[key].running -= 1
            raise
        finally:
            take_back()
            with self._lock:
                if not waiting.admitted:
                    self._lanes[key].waiting.remove(waiting)
                self._settle(key)

    def _settle(self, key: Key) -> None:
        lane = self._lanes[key]
        lane.admit()
        if lane.running == 0 and not lane.waiting:
            del self._lanes[key]

"""Records that may wait for each other, so that a burst of reads shares its commits (Spec 06 section 2).

A record that comes alone is written at once. One that follows another within `PATIENCE_S` waits, at most as
long again, or until so many wait that their transaction is worth it. A fast burst is written by its own calls,
every so often by one of them; a slow one by a thread that lives as long as the burst.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, Generic, TypeVar

PATIENCE_S: Final = 0.05
"""How long a record waits at most (Spec 06 section 2)."""
MOST: Final = 32
"""How many records wait at most; the call that makes it so many writes them."""

_LINGER: Final = 20  # rounds without a record until the thread ends

_One = TypeVar("_One")


class Sharing(Generic[_One]):
    """Holds records back for a moment. Any number of threads may add; the order of what was added is kept.

    `write` writes records in one transaction, all or none, and may raise `StoreUnavailable`.
    """

    def __init__(self, write: Callable[[Sequence[_One]], None]) -> None:
        self._write = write
        self._lock = allocate_lock()
        self._writing = allocate_lock()
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._waiting: list[_One] = []
        self._last = -PATIENCE_S
        self._oldest = 0.0
        self._attended = False
        self._failing = False

    def add(self, one: _One) -> None:
        """Write the record, now or within `PATIENCE_S`. Raises `StoreUnavailable` where it cannot be written.

        Where what waited could not be written, everything is written at once until that has worked again: the
        trouble is told to the calls that come then, and nothing that waits is given up.
        """
        if self._pid != os.getpid():
            self._as_child()
        with self._lock:
            now = monotonic()
            alone = not self._waiting and now - self._last >= PATIENCE_S
            self._last = now
            if not alone:
                if not self._waiting:
                    self._oldest = now
                self._waiting.append(one)
            at_once = self._failing or len(self._waiting) >= MOST or not (alone or self._attend())
        if alone:
            self._write((one,))
        elif at_once:
            self._flush_with(one)

    def flush(self) -> None:
        """Write all that waits. Raises `StoreUnavailable`; what waits then goes on waiting."""
        if self._pid != os.getpid():
            self._as_child()
        if not self._waiting:
            return
        with self._writing:
            with self._lock:
                batch, self._waiting = self._waiting, []
            try:
                if batch:
                    self._write(batch)
                self._failing = False
            except BaseException:
                self._failing = True
                with self._lock:
                    self._waiting[:0] = batch
                raise

    def _flush_with(self, one: _One) -> None:
        """Write all that waits; what this call is told not to be recorded waits no longer."""
        try:
            self.flush()
        except BaseException:
            with self._lock:
                self._waiting = [other for other in self._waiting if other is not one]
            raise

    def _attend(self) -> bool:
        """See to it that somebody writes what waits; False where no thread can be had."""
        if not self._attended:
            import atexit

            try:
                start_new_thread(self._serve, ())
            except RuntimeError:
                return False
            atexit.register(self._try)
            self._attended = True
        return True

    def _serve(self) -> None:
        import atexit

        idle = 0
        rest = PATIENCE_S
        bell = allocate_lock()
        bell.acquire()
        while idle <= _LINGER:
            # A wait that nothing ends early: unlike a sleep, it knows no clock that could be out of step.
            bell.acquire(timeout=rest)
            with self._lock:
                idle = 0 if self._waiting else idle + 1
                self._attended = idle <= _LINGER
                age = monotonic() - self._oldest if self._waiting else 0.0
            rest = PATIENCE_S - age
            if rest <= 0:
                self._try()
                rest = PATIENCE_S
        atexit.unregister(self._try)

    def _try(self) -> None:
        try:
            self.flush()
        except Exception:  # noqa: BLE001 -- whatever it is, the next call meets it and answers for it
            return

    def _as_child(self) -> None:
        """After a fork: what waits is the parent's to write, and so is the thread that would."""
        self._lock = allocate_lock()
        self._writing = allocate_lock()
        self._forget()

"""A time limit over several steps: it cancels whatever waits when the time is up."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hcpx.vocabulary.invocation import Cancel
from hcpx.vocabulary.json_text import number_text

if TYPE_CHECKING:
    from threading import Timer


class Deadline:
    """While entered, `cancel` follows the caller's handle and fires by itself after `seconds`.

    The alarm behind that is a thread, five times as dear as a step in process: it is started when something
    first waits on the handle. What never waits asks `passed` in between.
    """

    def __init__(self, outer: Cancel, seconds: float) -> None:
        self.cancel: Cancel = _Watched(self._set_alarm)
        self.expired = False
        self._outer = outer
        self._seconds = seconds
        self._ends = monotonic() + seconds
        self._alarm: Timer | None = None

    @property
    def seconds_text(self) -> str:
        """The limit, as a message says it."""
        return number_text(self._seconds)

    def passed(self) -> bool:
        """Tell whether the call is to end: the caller cancelled it, or its time is up."""
        if not self.cancel.cancelled and monotonic() >= self._ends:
            self._expire()
        return self.cancel.cancelled

    def _expire(self) -> None:
        self.expired = True
        self.cancel.cancel()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            return
        from threading import Timer

        self._alarm = Timer(max(0.0, self._ends - monotonic()), self._expire)
        self._alarm.daemon = True
        self._alarm.start()

    def __enter__(self) -> Self:
        self._release = self._outer.on_cancel(self.cancel.cancel)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._release()


class _Watched(Cancel):
    """A handle that says when somebody begins to wait on it."""

    def __init__(self, waited_on: Callable[[], None]) -> None:
        super().__init__()
        self._waited_on = waited_on

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have `wake` called at `cancel()`, and from now on also when the time is up."""
        self._waited_on()
        return super().on_cancel(wake)

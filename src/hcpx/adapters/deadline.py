"""A time limit over several steps: it cancels whatever runs when the time is up."""

from __future__ import annotations

from threading import Timer
from types import TracebackType
from typing import Self

from hcpx.vocabulary.invocation import Cancel
from hcpx.vocabulary.json_text import number_text


class Deadline:
    """While entered, `cancel` follows the caller's handle and fires by itself after `seconds`."""

    def __init__(self, outer: Cancel, seconds: float) -> None:
        self.cancel = Cancel()
        self.expired = False
        self.seconds_text = number_text(seconds)
        self._outer = outer
        self._timer = Timer(seconds, self._expire)
        self._timer.daemon = True

    def _expire(self) -> None:
        self.expired = True
        self.cancel.cancel()

    def __enter__(self) -> Self:
        self._release = self._outer.on_cancel(self.cancel.cancel)
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._release()

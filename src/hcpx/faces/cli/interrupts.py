"""Ctrl-C, TERM and a closed terminal as a wish to cancel: what runs is ended and recorded, then the command ends."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from hcpx.vocabulary.invocation import Cancel


@contextmanager
def cancelling() -> Generator[Cancel]:
    """Give a handle that they cancel, where the caller did not ignore them; the command then ends as interrupted."""
    cancel = Cancel()

    def stop(_number: int, _frame: FrameType | None) -> None:
        cancel.cancel()

    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = [number for number in ends if signal.getsignal(number) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, stop)) for number in heard]
    try:
        yield cancel
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    if cancel.cancelled:
        raise KeyboardInterrupt

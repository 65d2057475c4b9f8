"""Streams that were closed before we started."""

from __future__ import annotations

import os
import sys


def mend() -> None:
    """Open the null device wherever one of the three streams is closed, before any other file is opened."""
    null = os.open(os.devnull, os.O_RDWR)
    while null <= 2:
        os.set_inheritable(null, True)  # noqa: FBT003 -- it is a stream like any other
        null = os.open(os.devnull, os.O_RDWR)
    os.close(null)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace")

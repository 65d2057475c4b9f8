"""Times on the command line: written as RFC 3339 in UTC, read with a zone or as a distance from now."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from .exec_line import UsageError, seconds


def written(at: float | None) -> str | None:
    """Write Unix seconds as RFC 3339 in UTC; None stays None."""
    return None if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> float:
    """Read a future time, `2030-01-01T00:00:00Z` or `8h` from now, as Unix seconds, or raise `UsageError`."""
    return time.time() + seconds(text) if _is_distance(text) else _instant(text)


def bound(text: str | None) -> str | None:
    """Read a past time, absolute or `8h` ago, as the audit writes it; None stays None."""
    if text is None:
        return None
    at = time.time() - seconds(text) if _is_distance(text) else _instant(text)
    stamp = datetime.fromtimestamp(at, UTC)
    return f"{stamp:%Y-%m-%dT%H:%M:%S}.{stamp.microsecond // 1000:03}Z"


def _is_distance(text: str) -> bool:
    return text[:-1].isdecimal() and text[-1:] in "smhd"


def _instant(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise UsageError(f"not a time: {text!r} has no zone; write 2030-01-01T00:00:00Z, or 8h")
        return found.timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"not a time: {text!r}; write 2030-01-01T00:00:00Z, or 8h") from None

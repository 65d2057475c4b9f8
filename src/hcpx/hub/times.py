"""Times as people and programs read them; inside they are Unix seconds."""

from __future__ import annotations

import time


def rfc3339(at: float) -> str:
    """Return a time as RFC 3339 in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))

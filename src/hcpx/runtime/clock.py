"""Time and fresh ids."""

from __future__ import annotations

import os
import time
from functools import lru_cache

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
# Each byte stands for the sign of its low five bits: as many bytes for each sign, so none is likelier.
_SIGNS = _ALPHABET.encode() * 8


class SystemClock:
    """The machine's clock. Implements `hcpx.ports.Clock`."""

    def now(self) -> float:
        """Return the time as Unix seconds."""
        return time.time()

    def elapsed(self) -> float:
        """Return monotonic seconds."""
        return time.perf_counter()

    def new_id(self, kind: str) -> str:
        """Return `kind_` and 26 signs: 50 bits of time in milliseconds, then 80 random ones."""
        return f"{kind}_{_time_signs(int(time.time() * 1000))}{os.urandom(16).translate(_SIGNS).decode()}"


@lru_cache(maxsize=2)
def _time_signs(milliseconds: int) -> str:
    return "".join(_ALPHABET[milliseconds >> place & 31] for place in range(45, -1, -5))

"""Time and fresh ids."""

from __future__ import annotations

import os
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class SystemClock:
    """The machine's clock. Implements `hcpx.ports.Clock`."""

    def now(self) -> float:
        """Return the time as Unix seconds."""
        return time.time()

    def elapsed(self) -> float:
        """Return monotonic seconds."""
        return time.perf_counter()

    def new_id(self, kind: str) -> str:
        """Return `kind_` and 26 signs: 48 bits of time in milliseconds, then 80 random ones."""
        number = int(time.time() * 1000) << 80 | int.from_bytes(os.urandom(10))
        return f"{kind}_{''.join(_ALPHABET[number >> place & 31] for place in range(125, -1, -5))}"

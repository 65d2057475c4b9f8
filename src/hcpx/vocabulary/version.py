"""The runtime's version, which is also that of the bootstrap pack."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"

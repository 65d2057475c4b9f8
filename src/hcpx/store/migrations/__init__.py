"""The numbered migrations, in order; the files are beside this one."""

from __future__ import annotations

import os
from typing import Final

FILES: Final = ("0001_first.sql",)
LATEST: Final = len(FILES)


def script(number: int) -> str:
    """Return the SQL of one migration, counted from 1."""
    with open(os.path.join(os.path.dirname(__file__), FILES[number - 1]), encoding="utf-8") as file:
        return file.read()

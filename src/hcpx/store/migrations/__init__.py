"""The numbered migrations, in order; the files are beside this one."""

from __future__ import annotations

import os
from typing import Final, NamedTuple


class Migrations(NamedTuple):
    """A folder and the SQL files in it, the first one being migration 1."""

    folder: str
    files: tuple[str, ...]

    @property
    def latest(self) -> int:
        """The number of the newest one."""
        return len(self.files)

    def script(self, number: int) -> str:
        """Return the SQL of one migration."""
        with open(os.path.join(self.folder, self.files[number - 1]), encoding="utf-8") as file:
            return file.read()


SHIPPED: Final = Migrations(os.path.dirname(__file__), ("0001_first.sql",))

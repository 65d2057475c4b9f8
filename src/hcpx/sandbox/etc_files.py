"""Small public files of the machine, kept in memory and read again when they change."""

from __future__ import annotations

import os
import stat

from .view import ETC_FILES

_LARGEST = 1024 * 1024
_Stamp = tuple[int, int, int]


class EtcFiles:
    """The contents of `view.ETC_FILES`. A file that not everybody may read, or a large one, is left out."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Stamp, bytes]] = {}

    def now(self) -> list[tuple[str, bytes]]:
        """Return (name below /etc, content) of those that are there."""
        return [(name, content) for name in ETC_FILES if (content := self._content(name)) is not None]

    def _content(self, name: str) -> bytes | None:
        try:
            found = os.stat(f"/etc/{name}")
            if not stat.S_ISREG(found.st_mode) or not found.st_mode & stat.S_IROTH or found.st_size > _LARGEST:
                return None
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
            known = self._known.get(name)
            if known is None or known[0] != stamp:
                with open(f"/etc/{name}", "rb") as file:
                    known = self._known[name] = (stamp, file.read())
        except OSError:
            return None
        return known[1]

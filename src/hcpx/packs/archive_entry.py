"""What the readers of archives give, and the one way in which they refuse."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class BadArchive(Exception):
    """Why an archive is refused; the message names the entry where there is one."""


class Entry(msgspec.Struct, frozen=True):
    """One entry of an archive: `shape` is `file`, `folder`, `link` or `hard`; `content` a file's chunks."""

    path: str
    shape: str
    mode: int
    target: str
    content: Iterable[bytes]

"""One quick look that tells most texts to be clean, so that they are not read byte by byte."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from .spelling import BASE64, SHORT_ESCAPES, certain_base64, utf8

_MANY_ESCAPES: Final = 100_000
_MUCH: Final = 1 << 28
_ESCAPE_ITSELF: Final = "%\\"

_Escapes = frozenset[tuple[bytes, bytes]]


class Glance:
    """Knows what a text must hold, at least, to hold a spelling of one of `values`."""

    def __init__(self, values: tuple[str, ...]) -> None:
        self._values = values
        self._raw = tuple(utf8(value) for value in values)
        self._base64 = frozenset[bytes]().union(*(certain_base64(value) for value in values))
        self._blank = any(" " in value for value in values)
        self._telling: _Escapes = frozenset()

    def clean(self, data: bytes) -> bool:
        """Tell whether `data` surely holds no spelling; False says that it has to be read."""
        if len(data) * (len(self._raw) + len(self._base64)) > _MUCH:
            return False
        if any(value in data for value in self._raw) or (self._blank and b"+" in data):
            return False
        unwrapped = data.replace(b"\\n", b"").replace(b"\\r", b"").translate(None, b"\r\n\\")
        if any(certain in unwrapped for certain in self._base64):
            return False
        escapes = data.count(b"%") + data.count(b"\\")
        return not escapes or (escapes < _MANY_ESCAPES and self._escapes_tell_nothing(data))

    def _escapes_tell_nothing(self, data: bytes) -> bool:
        """Tell whether no escape in `data` stands for anything that a spelling has in it."""
        if not self._telling:
            self._telling = _always_telling() | _escapes("".join(self._values))
        found: list[tuple[bytes, bytes]] = _escape().findall(data)
        return self._telling.isdisjoint((percent.lower(), json.lower()) for percent, json in set(found))


@cache
def _escape() -> re.Pattern[bytes]:
    """Return what finds every escape, also one whose backslash is itself escaped."""
    return re.compile(rb'%(?=([0-9A-Fa-f]{2}))|\\(?=(u[0-9A-Fa-f]{4}|["\\/bfnrt]))')


@cache
def _always_telling() -> _Escapes:
    """Return the escapes that base64 can have in it, and those behind which another escape may hide.

    Not a backslash with a slash or another backslash behind it, which every path in JSON may have: base64 is
    looked for without backslashes, and an escape that hides behind one begins with the next one.
    """
    return _escapes("".join(BASE64) + _ESCAPE_ITSELF) - {(b"", b"\\"), (b"", b"/")}


def _escapes(text: str) -> _Escapes:
    """Return the escapes for `text`'s characters or pieces of them, as `_escape` finds them, lowered."""
    found: set[tuple[bytes, bytes]] = set()
    for char in set(text):
        found.update((f"{byte:02x}".encode(), b"") for byte in utf8(char))
        units = char.encode("utf-16-be", "surrogatepass")
        found.update((b"", b"u" + units[at : at + 2].hex().encode()) for at in range(0, len(units), 2))
        if char in SHORT_ESCAPES:
            found.add((b"", SHORT_ESCAPES[char].encode()))
    return frozenset(found)

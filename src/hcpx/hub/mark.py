"""The mark that stands for what is hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .automaton import Span

MARK: Final = "[redacted]"
MARK_BYTES: Final = MARK.encode()


def hidden(data: bytes, spans: list[Span], replace: Callable[[str], str] | None = None) -> bytes:
    """Return `data` with each span replaced by the mark, or by what `replace` makes of its text."""
    pieces: list[bytes] = []
    shown = 0
    for begin, stop in spans:
        pieces.append(data[shown:begin])
        pieces.append(MARK_BYTES if replace is None else _replaced(data[begin:stop], replace))
        shown = stop
    pieces.append(data[shown:])
    return b"".join(pieces)


def _replaced(found: bytes, replace: Callable[[str], str]) -> bytes:
    return replace(found.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")


def within_mark(data: bytes, span: Span) -> bool:
    """Tell whether a span lies inside one mark: a secret may be a part of the word itself."""
    begin, stop = span
    first = max(0, stop - len(MARK_BYTES))
    return any(data.startswith(MARK_BYTES, at) for at in range(first, begin + 1))

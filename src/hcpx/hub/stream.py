"""Redacts live output: what may still become a secret waits for what follows it."""

from __future__ import annotations

from .automaton import BLOCK, Automaton, Span, join
from .mark import MARK_BYTES


class SecretStream:
    """The port `RedactedStream`.

    It holds back the bytes from the first one on that can still become a spelling. `_hidden` counts those
    among them that belong to a secret whose mark is out already.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._held = b""
        self._hidden = 0

    def __repr__(self) -> str:
        """Tell nothing of what is held back."""
        return "SecretStream(...)"

    def feed(self, data: bytes) -> bytes:
        """Take what was read, return what can be shown."""
        shown: list[bytes] = []
        for start in range(0, len(data), BLOCK):
            text = self._held + data[start : start + BLOCK]
            spans, held = self._automaton.look(text)
            shown.append(self._show(text, spans, held))
        return b"".join(shown)

    def finish(self) -> bytes:
        """Return the rest."""
        spans, _ = self._automaton.look(self._held)
        return self._show(self._held, spans, len(self._held))

    def _show(self, text: bytes, found: list[Span], end: int) -> bytes:
        """Return `text` up to `end`, redacted, and hold back the rest."""
        spans = [(0, self._hidden)] if self._hidden else []
        for span in found:
            join(spans, span)
        pieces: list[bytes] = []
        shown = 0
        for begin, stop in spans:
            carried = begin == 0 and self._hidden > 0
            if begin >= end and not carried:
                break
            pieces.append(text[shown:begin])
            pieces.append(b"" if carried else MARK_BYTES)
            shown = stop
        pieces.append(text[shown:end])
        self._held = text[end:]
        self._hidden = max(0, shown - end)
        return b"".join(pieces)

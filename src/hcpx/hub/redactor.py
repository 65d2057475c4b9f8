"""Hides the secrets of one call in everything that comes back (Spec 03, redaction).

What is looked at is bytes, before anything is made of them. A text without a secret costs a few searches for
constant bytes; only one that may hold a spelling of a secret is read by the automaton.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

from hcpx.vocabulary.json_text import encode

from .automaton import Automaton, Span
from .glance import Glance
from .json_patch import patched
from .mark import hidden, within_mark
from .spelling import Speller, longest, utf8
from .stream import SecretStream


class SecretRedactor:
    """The port `Redactor`: hides every spelling of `values`."""

    def __init__(self, values: tuple[str, ...]) -> None:
        self.slack = max(longest(value) for value in values)
        self._values = values
        self._glance = Glance(values)
        self._automaton: Automaton | None = None

    def __repr__(self) -> str:
        """Tell nothing of the values."""
        return "SecretRedactor(...)"

    def output(self, data: bytes) -> bytes:
        """Redact what a program printed: a JSON text still parses, other bytes stay as they are."""
        if self._glance.clean(data):
            return data
        document = patched(data, self._spans, self.text)
        return hidden(data, self._spans(data)) if document is None else document

    def text(self, text: str) -> str:
        """Redact a text."""
        return self._replaced(text, None)

    def value(self, value: object, replace: Callable[[str], str] | None = None) -> object:
        """Redact a JSON value in keys and values; `replace` makes the text that stands for a hidden one."""
        if self._surely_clean(value):
            return value
        top: list[Any] = [value]
        waiting: list[tuple[Any, Any]] = [(top, 0)]
        while waiting:
            holder, place = waiting.pop()
            item = holder[place]
            if _is_object(item):
                copy = {self._replaced(key, replace): below for key, below in item.items()}
                holder[place] = copy
                waiting.extend((copy, key) for key in copy)
            elif _is_array(item):
                holder[place] = items = list(item)
                waiting.extend((items, index) for index in range(len(items)))
            else:
                holder[place] = self._replaced_leaf(item, replace)
        return top[0]

    def stream(self) -> SecretStream:
        """Return a filter for live output."""
        return SecretStream(self._machine())

    def _surely_clean(self, value: object) -> bool:
        try:
            return self._glance.clean(encode(value))
        except (TypeError, ValueError, OverflowError, RecursionError):
            return False

    def _replaced_leaf(self, item: object, replace: Callable[[str], str] | None) -> object:
        if isinstance(item, str):
            return self._replaced(item, replace)
        if isinstance(item, (int, float)):
            written = repr(item)
            redacted = self._replaced(written, replace)
            return item if redacted == written else redacted
        return item

    def _replaced(self, text: str, replace: Callable[[str], str] | None) -> str:
        data = utf8(text)
        if self._glance.clean(data):
            return text
        return hidden(data, self._spans(data), replace).decode("utf-8", "surrogatepass")

    def _spans(self, data: bytes) -> list[Span]:
        # What is inside a mark already stays: a secret may be a part of that word.
        return [span for span in self._machine().spans(data) if not within_mark(data, span)]

    def _machine(self) -> Automaton:
        if self._automaton is None:
            speller = Speller()
            spellings = (spelling for value in self._values for spelling in speller.spellings(value))
            self._automaton = Automaton(spellings, self.slack)
        return self._automaton


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, (list, tuple))

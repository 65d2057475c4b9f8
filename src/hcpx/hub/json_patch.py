"""Redacts a JSON text in place: keys, texts and numbers change, every other byte stays (Spec 08 point 12)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from hcpx.vocabulary.json_text import NOT_JSON, parse_output

from .automaton import Span
from .mark import MARK, hidden

Search = Callable[[bytes], list[Span]]
Redact = Callable[[str], str]

_MARK_TOKEN: Final = f'"{MARK}"'.encode()
_QUOTE: Final = ord('"')


def patched(data: bytes, search: Search, redact: Redact) -> bytes | None:
    """Return the JSON text redacted, or None where `data` is not JSON.

    `search` tells what is to be hidden. Where hiding piece by piece leaves something (a secret that reaches
    over several values), what it touches is hidden whole, and at last the whole text.
    """
    try:
        if parse_output(data.decode()) is NOT_JSON:
            return None
    except UnicodeDecodeError:
        return None
    for whole in (False, True):
        data = b"".join(_pieces(data, search(data), redact, whole=whole))
        if not search(data):
            return data
    return _MARK_TOKEN


def _pieces(data: bytes, spans: list[Span], redact: Redact, *, whole: bool) -> Iterator[bytes]:
    done = first = 0
    for match in _token().finditer(data):
        begin, stop = match.span()
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        touched = first < len(spans) and spans[first][0] < stop
        token = match.group()
        if touched and (whole or token[0] != _QUOTE):
            changed = _MARK_TOKEN
        elif touched:
            changed = _redacted_string(token, _inside(spans, first, begin, stop), redact)
        elif token[0] == _QUOTE:
            changed = _redacted_meaning(token, redact)
        else:
            continue
        if changed is not token:
            yield data[done:begin]
            yield changed
            done = stop
    yield data[done:]


def _inside(spans: list[Span], first: int, begin: int, stop: int) -> list[Span]:
    """Return the spans that touch the token, counted from its beginning."""
    found: list[Span] = []
    while first < len(spans) and spans[first][0] < stop:
        found.append((spans[first][0] - begin, spans[first][1] - begin))
        first += 1
    return found


def _redacted_string(token: bytes, spans: list[Span], redact: Redact) -> bytes:
    """Redact a string in which spans were found: at best only their bytes change."""
    if spans[0][0] > 0 and spans[-1][1] < len(token):
        changed = hidden(token, spans)
        if b"\\" not in token or _is_json(changed):
            return _redacted_meaning(changed, redact)
    text = json.loads(token)
    wanted = redact(text)
    # Found in its bytes but not in what it says, where an escape has taken the secret's first character.
    return _MARK_TOKEN if wanted == text else _written(wanted)


def _redacted_meaning(token: bytes, redact: Redact) -> bytes:
    """Redact what a string says, where it may say more than its bytes: an escape within an escape."""
    if _nested().search(token) is None:
        return token
    text = json.loads(token)
    wanted = redact(text)
    return token if wanted == text else _written(wanted)


def _is_json(token: bytes) -> bool:
    try:
        json.loads(token)
    except ValueError:
        return False
    return True


def _written(text: str) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


@cache
def _token() -> re.Pattern[bytes]:
    """Return what finds the strings, numbers and literals of a JSON text."""
    return re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[-+.0-9A-Za-z]++')


@cache
def _nested() -> re.Pattern[bytes]:
    """Return what finds a string in which an escape may be escaped once more."""
    return re.compile(rb"\\(?:\\|u00(?:25|5[cC]))")

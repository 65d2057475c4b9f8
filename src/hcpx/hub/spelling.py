"""Every way to spell a secret that redaction knows (Spec 03, redaction; Spec 08 point 13).

A secret is searched for raw, percent-encoded and JSON-escaped, in any mixture, and as base64 in its three
alignments and two alphabets. A spelling is a row of positions; each has a `Unit`: how it can be written.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Iterator
from typing import Final

import msgspec

SHORTEST: Final = 6
"""Values of fewer characters are not searched for: they would blank out everything."""

Unit = dict[bytes, tuple[int, ...]]
"""Each beginning of a writing, and each whole one: 0 says that more is to come, n: n positions are done."""

_ALPHABETS: Final = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
)
BASE64: Final = frozenset("".join(_ALPHABETS) + "=")
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
SHORT_ESCAPES: Final = {
    '"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t",
}  # fmt: skip
_BACKSLASHES: Final = ((b"\\",), (b"\\", b"\\"), (b"\\", b"\\", b"\\"))
_HEX: Final = {digit: (digit + digit.upper()).encode() for digit in "0123456789abcdef"}


class Spelling(msgspec.Struct, frozen=True):
    """A row of positions; who stands at one of `ends` has read the whole secret."""

    units: tuple[Unit, ...]
    ends: frozenset[int]

    def __repr__(self) -> str:
        """Tell nothing: the units are the secret."""
        return "Spelling(...)"


def searched(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Return what to search for: each secret whole, its lines, and the string leaves of one that is JSON."""
    found: dict[str, None] = {}
    waiting = list(reversed(secrets))
    while waiting:
        value = waiting.pop()
        for part in (value, *(line.strip() for line in value.split("\n"))):
            if len(part) >= SHORTEST:
                found[part] = None
        waiting.extend(_leaves(value))
    return tuple(found)


def _leaves(secret: str) -> Iterator[str]:
    if secret.strip()[:1] not in {"{", "[", '"'}:
        return
    try:
        waiting: list[object] = [json.loads(secret)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.values())  # pyright: ignore[reportUnknownArgumentType] -- any JSON value
        elif isinstance(value, list):
            waiting.extend(value)  # pyright: ignore[reportUnknownArgumentType] -- any JSON value


def utf8(text: str) -> bytes:
    """Encode a text, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def longest(value: str) -> int:
    """Return how many bytes a spelling of `value` has at most: base64, wrapped, every character escaped."""
    return 24 * len(utf8(value)) + 60


def certain_base64(value: str) -> frozenset[bytes]:
    """Return what base64 of a text with `value` in it holds, line breaks aside: one for each alignment."""
    data = utf8(value)
    found: set[bytes] = set()
    for before in range(3):
        whole = b2a_base64(bytes(before) + data, newline=False)
        certain = whole[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
        found.update((certain, certain.translate(_TO_URL)))
    return frozenset(found)


class Speller:
    """Makes spellings; equal positions share their unit."""

    def __init__(self) -> None:
        self._text: dict[tuple[int, str], Unit] = {}
        self._base64: dict[tuple[int, int, bool], Unit] = {}

    def spellings(self, value: str) -> Iterator[Spelling]:
        """Return every spelling of `value`."""
        yield self._as_text(value)
        data = utf8(value)
        for before in range(3):
            yield self._as_base64(data, before)

    def _as_text(self, value: str) -> Spelling:
        units: list[Unit] = []
        for char in value:
            for place, byte in enumerate(utf8(char)):
                key = (byte, "" if place else char)
                unit = self._text.get(key)
                if unit is None:
                    unit = self._text[key] = _text_unit(*key)
                units.append(unit)
        return Spelling(tuple(units), frozenset({len(units)}))

    def _as_base64(self, data: bytes, before: int) -> Spelling:
        """Spell `data` as it is in base64 behind `before` unknown bytes, at most a line break in each gap."""
        stream = bytes(before) + data + b"\0"
        known = bytes(before) + b"\xff" * len(data) + b"\0"
        first, last = 8 * before // 6, -(-8 * (before + len(data)) // 6) - 1
        units: list[Unit] = []
        for place in range(first, last + 1):
            mask = _sextet(known, place)
            key = (_sextet(stream, place) & mask, mask, place == last)
            unit = self._base64.get(key)
            if unit is None:
                unit = self._base64[key] = _base64_unit(*key)
            units += (unit,) if place == last else (unit, _LINE_BREAK)
        padding = -(before + len(data)) % 3
        return Spelling((*units, *([_PADDING] * padding)), frozenset({len(units), len(units) + padding}))


def _sextet(stream: bytes, place: int) -> int:
    byte, bit = divmod(6 * place, 8)
    return int.from_bytes(stream[byte : byte + 2].ljust(2, b"\0"), "big") >> (10 - bit) & 63


def _text_unit(byte: int, char: str) -> Unit:
    """How a byte can be written; where a character begins with it (`char`), also how that can be escaped."""
    unit: Unit = {}
    _add(unit, (bytes((byte,)),), 1)
    _add_percent(unit, byte)
    if char:
        _add_json(unit, char)
        if char == " ":
            _add(unit, (b"+",), 1)
    return unit


def _base64_unit(bits: int, mask: int, last: bool) -> Unit:  # noqa: FBT001 -- part of the key it is kept under
    unit: Unit = {}
    for sextet in range(64):
        if sextet & mask == bits:
            for char in {alphabet[sextet] for alphabet in _ALPHABETS}:
                _add_char(unit, char)
    if not last:
        # Behind a character comes a gap for a line break, or the next character.
        return {
            written: tuple(way for jump in jumps for way in ((1, 2) if jump else (0,)))
            for written, jumps in unit.items()
        }
    return unit


def _add_char(unit: Unit, char: str) -> None:
    _add(unit, (char.encode(),), 1)
    _add_percent(unit, ord(char))
    _add_json(unit, char)


def _add_percent(unit: Unit, byte: int) -> None:
    """Add `%XX`, and what that becomes when it is percent-encoded once more."""
    digits = tuple(_HEX[digit] for digit in f"{byte:02x}")
    _add(unit, (b"%", *digits), 1)
    _add(unit, (b"%", b"2", b"5", *digits), 1)


def _add_json(unit: Unit, char: str) -> None:
    """Add the escapes of a character, also within JSON that is a text of JSON: with more backslashes each."""
    width = len(utf8(char))
    for escape in _BACKSLASHES:
        _add(unit, tuple(choice for body in _bodies(char) for choice in (*escape, *body)), width)
        if char == "\\":
            _add(unit, (*escape, b"\\"), width)
        elif char in SHORT_ESCAPES:
            _add(unit, (*escape, SHORT_ESCAPES[char].encode()), width)


def _bodies(char: str) -> Iterator[tuple[bytes, ...]]:
    """Return what follows the backslash of a numeric escape, once for each half of a surrogate pair."""
    digits = char.encode("utf-16-be", "surrogatepass").hex()
    for at in range(0, len(digits), 4):
        yield (b"u", *(_HEX[digit] for digit in digits[at : at + 4]))


def _add(unit: Unit, choices: tuple[bytes, ...], jump: int) -> None:
    """Add a writing to a unit: each of `choices` lists the bytes that may stand there."""
    written = [b""]
    for place, choice in enumerate(choices, 1):
        written = [begun + bytes((byte,)) for begun in written for byte in choice]
        way = jump if place == len(choices) else 0
        for beginning in written:
            ways = unit.get(beginning, ())
            if way not in ways:
                unit[beginning] = (*ways, way)


def _line_break() -> Unit:
    unit: Unit = {}
    _add(unit, (b"\n",), 1)
    _add(unit, (b"\r", b"\n"), 1)
    for escape in _BACKSLASHES:
        _add(unit, (*escape, b"n"), 1)
        _add(unit, (*escape, b"r", *escape, b"n"), 1)
    return unit


def _padding() -> Unit:
    unit: Unit = {}
    _add_char(unit, "=")
    return unit


_LINE_BREAK: Final = _line_break()
_PADDING: Final = _padding()

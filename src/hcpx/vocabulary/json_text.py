"""JSON as the specification reads it: one strict reader for what callers send, one for what programs print.

Both work on plain Python values: dict, list, str, int, float, bool and None.
"""

from __future__ import annotations

import json
import re
from typing import Final

import msgspec

ENVELOPE_DEPTH: Final = 64
OUTPUT_DEPTH: Final = 512
MAX_DIGITS: Final = 4300

# 14,284 bits are the most that 4,300 decimal digits can need; anything shorter is fine without counting.
_DIGIT_BITS: Final = 14284


class JsonProblem(ValueError):
    """What is wrong with a JSON text or value, and at which dotted path."""

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(f"{why} at {path}" if path else why)


class NotJson:
    """The answer of `parse_output` for a text that is not JSON."""


NOT_JSON: Final = NotJson()


class _Doubled(dict[str, object]):
    """An object that held one key twice; the walk that knows the path reports it."""

    key: str = ""


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled = _Doubled(found)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            doubled.key = key
        seen.add(key)
    return doubled


def _constant(name: str) -> object:
    raise JsonProblem(f"{name} is not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise JsonProblem("a number is beyond the range of a double")
    return number


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise JsonProblem(f"an integer has more than {MAX_DIGITS} digits")
    return int(digits)


_strict = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_int
)
_plain = json.JSONDecoder(parse_constant=_constant, parse_float=_float, parse_int=_int)


def read_strict(text: str, depth: int = ENVELOPE_DEPTH) -> object:
    """Parse one JSON text by the rules of Spec 01 section 2.

    Raises `JsonProblem` for anything that is not exactly one JSON value, for duplicate keys at any
    depth, numbers out of range, NUL or a lone surrogate in a string, and nesting beyond `depth`.
    """
    return checked(parse_strict(text), depth)


def parse_strict(text: str) -> object:
    """Parse one JSON text, or raise `JsonProblem`; strings, nesting and keys are still to be `checked`."""
    try:
        value: object = _strict.decode(text)
    except JsonProblem:
        raise
    except RecursionError:
        raise JsonProblem("nested too deep") from None
    except json.JSONDecodeError as problem:
        raise JsonProblem(f"not JSON: {problem.msg}, line {problem.lineno} column {problem.colno}") from None
    return value


def checked(value: object, depth: int = ENVELOPE_DEPTH) -> object:
    """Return a deep copy of a JSON value made of plain types, or raise `JsonProblem` (Spec 01 section 2).

    A value that was built in Python meets the same rules as one that was parsed.
    """
    return _checked(value, depth, "")


def _checked(value: object, depth: int, path: str) -> object:
    if isinstance(value, str):
        return _text(value, path)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _whole(value, path)
    if isinstance(value, float):
        if value - value != 0.0:
            raise JsonProblem("a number is not finite", _escaped(path))
        return float(value)
    if depth == 0 and isinstance(value, (dict, list, tuple)):
        raise JsonProblem(f"nested deeper than {ENVELOPE_DEPTH}")
    if isinstance(value, dict):
        return _object(value, depth, path)  # pyright: ignore[reportUnknownArgumentType] -- keys and values are checked there
    if isinstance(value, (list, tuple)):
        items: list[object] = list(value)  # pyright: ignore[reportUnknownArgumentType] -- each item is checked next
        return [_checked(item, depth - 1, f"{path}[{place}]") for place, item in enumerate(items)]
    raise JsonProblem(f"a value of type {type(value).__name__} is not JSON", _escaped(path))


def _object(value: dict[object, object], depth: int, path: str) -> dict[str, object]:
    if isinstance(value, _Doubled):
        raise JsonProblem("duplicate key", _joined(path, value.key))
    copy: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise JsonProblem("a key is not a string", _escaped(path))
        name = _text(key, path)
        copy[name] = _checked(item, depth - 1, f"{path}.{name}" if path else name)
    return copy


def _text(value: str, path: str) -> str:
    if "\0" in value:
        raise JsonProblem("a string holds NUL", _escaped(path))
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise JsonProblem("a string holds a lone surrogate", _escaped(path)) from None
    return str(value)


def _whole(value: int, path: str) -> int:
    if value.bit_length() >= _DIGIT_BITS and abs(value) >= 10**MAX_DIGITS:
        raise JsonProblem(f"an integer has more than {MAX_DIGITS} digits", _escaped(path))
    return int(value)


def _joined(path: str, key: str) -> str:
    return _escaped(f"{path}.{key}" if path else key)


def _escaped(path: str) -> str:
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):04X}}}" for char in _head(path))


def _head(path: str) -> str:
    return path[:200]


_DOUBTFUL_NUMBER: Final = re.compile(r"[eE]\+?0*\d{3}|\d{300}|Infinity|NaN")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse_output(text: str) -> object:
    """Parse what a program printed (Spec 01 section 4), or return `NOT_JSON`.

    The last of duplicate keys wins, a byte-order mark is ignored, a lone surrogate becomes U+FFFD.
    """
    body = text.removeprefix("\ufeff").strip(" \t\r\n")
    if not body or body[0] not in '{["-0123456789tfn':
        return NOT_JSON
    try:
        value = json.loads(body) if _DOUBTFUL_NUMBER.search(body) is None else _plain.decode(body)
    except (ValueError, RecursionError):
        return NOT_JSON
    # Only a text with this many brackets can nest that deep, so most outputs are not walked.
    if body.count("[") + body.count("{") > OUTPUT_DEPTH and _deeper(value, OUTPUT_DEPTH):
        return NOT_JSON
    return mended(value) if _SURROGATE_ESCAPE.search(body) else value


def _deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit + 1):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())  # pyright: ignore[reportUnknownArgumentType] -- any JSON value
            elif isinstance(item, list):
                below.extend(item)  # pyright: ignore[reportUnknownArgumentType] -- any JSON value
        if not any(isinstance(item, (dict, list)) for item in level):
            return False
        level = below
    return True


def mended(value: object) -> object:
    """Return the JSON value with every lone surrogate in its texts and keys replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else mended_text(value)
    if isinstance(value, dict):
        return {mended_text(key): mended(item) for key, item in value.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- JSON
    if isinstance(value, list):
        return [mended(item) for item in value]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- JSON
    return value


def mended_text(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encode(value: object) -> bytes:
    """Encode a JSON value that was checked or parsed here as UTF-8 JSON; key order is kept."""
    return msgspec.json.encode(value)


def number_text(value: float) -> str:
    """Return a number as ECMAScript's `String` writes it; an integer keeps all its digits.

    Spec 02 section 2 rule 3.
    """
    if isinstance(value, int):
        return str(int(value))
    if not value:
        return "0"
    sign, digits, point = _shortest(value)
    # The bounds of ECMA-262 Number::toString.
    if 0 < point <= 21:
        whole = digits[:point].ljust(point, "0")
        rest = digits[point:]
        return f"{sign}{whole}.{rest}" if rest else sign + whole
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{point - 1:+d}"


def _shortest(value: float) -> tuple[str, str, int]:
    """Return sign, the shortest digits that read back as `value`, and where the point stands in them."""
    text = repr(value)
    sign = "-" if text[0] == "-" else ""
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    zeros = len(whole + fraction) - len(digits)
    point = len(whole) - zeros + int(exponent or "0")
    return sign, digits.rstrip("0"), point


def canonical(value: object) -> str:
    """Return a JSON value in RFC 8785 form.

    Integers keep all their digits, and 7 and 7.0 are equal (Spec 01 section 3).
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, dict):
        items: list[tuple[str, object]] = sorted(value.items(), key=_utf16)  # pyright: ignore[reportUnknownArgumentType] -- JSON
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in items) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical(item) for item in value) + "]"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- JSON
    message = f"not a JSON value: {type(value).__name__}"
    raise TypeError(message)


def _utf16(item: tuple[str, object]) -> bytes:
    return item[0].encode("utf-16-be", "surrogatepass")

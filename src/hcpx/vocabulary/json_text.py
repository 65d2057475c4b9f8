"""JSON as the specification reads it: one strict reader for what callers send, one for what programs print.

Both work on plain Python values: dict, list, str, int, float, bool and None.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Final, cast

import msgspec

from .text import shown

ENVELOPE_DEPTH: Final = 64
OUTPUT_DEPTH: Final = 512
MAX_DIGITS: Final = 4300

# So many bits are at most 640 decimal digits, the least that an interpreter can be limited to.
_SAFE_BITS: Final = 2126
_SHOWN_PATH: Final = 200
_TOO_LONG: Final = f"an integer has more than {MAX_DIGITS} digits"
_TOO_DEEP: Final = "nested too deep"


class JsonProblem(ValueError):
    """What is wrong with a JSON text or value, and at which dotted path."""

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(f"{why} at {shown(path[:_SHOWN_PATH])}" if path else why)
        self.why = why
        self.path = path

    def below(self, step: str) -> JsonProblem:
        """Return the same problem, seen from the value that holds it under `step`."""
        return JsonProblem(self.why, f"{step}{self.path if self.path[:1] in ('', '[') else '.' + self.path}")


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
    keys = (key for key, _ in pairs)
    key = next(keys)
    while key not in seen:
        seen.add(key)
        key = next(keys)
    doubled.key = key
    return doubled


def _constant(name: str) -> object:
    raise JsonProblem(f"{name} is not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if number - number != 0.0:
        raise JsonProblem("a number is beyond the range of a double")
    return number


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise JsonProblem(_TOO_LONG)
    return int(digits)


_strict = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float, parse_int=_int)
_plain = json.JSONDecoder(parse_constant=_constant, parse_float=_float, parse_int=_int)


def read_strict(text: str, depth: int = ENVELOPE_DEPTH) -> object:
    """Parse one JSON text by the rules of Spec 01 section 2.

    Raises `JsonProblem` for anything that is not exactly one JSON value, for duplicate keys at any
    depth, numbers out of range, NUL or a lone surrogate in a string, and nesting beyond `depth`.
    """
    return checked(parse_strict(text), depth)


def parse_strict(text: str) -> object:
    """Parse one JSON text or raise `JsonProblem`; its strings, nesting and keys are still to be `checked`."""
    try:
        value: object = _strict.decode(text)
    except JsonProblem:
        raise
    except RecursionError:
        raise JsonProblem(_TOO_DEEP) from None
    except json.JSONDecodeError as problem:
        raise JsonProblem(f"not JSON: {problem.msg}, line {problem.lineno} column {problem.colno}") from None
    except ValueError:  # the interpreter was told to read fewer digits than 4,300
        raise JsonProblem(_TOO_LONG) from None
    return value


def checked(value: object, depth: int = ENVELOPE_DEPTH) -> object:
    """Return a deep copy of a JSON value made of plain types, or raise `JsonProblem` (Spec 01 section 2).

    A value that was built in Python meets the same rules as one that was parsed.
    """
    try:
        return _checked(value, depth)
    except RecursionError:
        raise JsonProblem(_TOO_DEEP) from None


def _checked(value: object, depth: int) -> object:
    if isinstance(value, str):
        return _text(value)
    if value is None or value is True or value is False:
        return value
    if isinstance(value, int):
        return _whole(value)
    if isinstance(value, dict):
        return _object(value, depth)  # pyright: ignore[reportUnknownArgumentType] -- keys and values are checked there
    if isinstance(value, (list, tuple)):
        return _list(value, depth)  # pyright: ignore[reportUnknownArgumentType] -- items are checked there
    if not isinstance(value, float):
        raise JsonProblem(f"a value of type {type(value).__name__} is not JSON")
    if value - value != 0.0:
        raise JsonProblem("a number is not finite")
    return float.__float__(value)


def _object(value: dict[object, object], depth: int) -> dict[str, object]:
    if isinstance(value, _Doubled):
        raise JsonProblem("duplicate key", value.key or '""')
    if depth == 0:
        raise JsonProblem(_TOO_DEEP)
    copy: dict[str, object] = {}
    for key, item in value.items():
        # What `_text` would say, without a call, of the commonest keys and values.
        if type(key) is str and key.isidentifier():
            name = key
        elif isinstance(key, str):
            name = _text(key)
        else:
            raise JsonProblem("a key is not a string")
        if type(item) is str and item.isascii() and "\0" not in item:
            copy[name] = item
            continue
        try:
            copy[name] = _checked(item, depth - 1)
        except JsonProblem as problem:
            raise problem.below(name or '""') from None
    return copy


def _list(value: list[object] | tuple[object, ...], depth: int) -> list[object]:
    if depth == 0:
        raise JsonProblem(_TOO_DEEP)
    copy: list[object] = []
    for item in value:
        try:
            copy.append(_checked(item, depth - 1))
        except JsonProblem as problem:
            raise problem.below(f"[{len(copy)}]") from None
    return copy


def _text(value: str) -> str:
    if "\0" in value:
        raise JsonProblem("a string holds NUL")
    if not value.isascii() and has_surrogate(value):
        raise JsonProblem("a string holds a lone surrogate")
    return value if type(value) is str else str.__str__(value)


def has_surrogate(text: str) -> bool:
    """Tell whether a text holds a lone surrogate, so that it has no UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _whole(value: int) -> int:
    if value.bit_length() > _SAFE_BITS:
        # The interpreter may have been told to write fewer digits: what it cannot write is refused here.
        most = min(MAX_DIGITS, sys.get_int_max_str_digits() or MAX_DIGITS)
        if abs(value) >= 10**most:
            raise JsonProblem(_TOO_LONG)
    return int.__int__(value)


_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST_NEGATIVE: Final = re.compile(rf"-[0-9]{{{MAX_DIGITS}}}")


def parse_output(text: str) -> object:
    """Parse what a program printed (Spec 01 section 4), or return `NOT_JSON`.

    The last of duplicate keys wins, a byte-order mark is ignored, a lone surrogate becomes U+FFFD.
    """
    body = text.removeprefix("\ufeff").strip(" \t\r\n")
    if not body or body[0] not in '{["-0123456789tfn':
        return NOT_JSON
    try:
        value = _parsed(body)
    except RecursionError:
        value = _parsed_on_a_fresh_stack(body)
    # Only a text with this many brackets can nest that deep, so most outputs are not walked.
    if body.count("[") + body.count("{") > OUTPUT_DEPTH and _deeper(value, OUTPUT_DEPTH):
        return NOT_JSON
    return value


def _parsed(body: str) -> object:
    try:
        return msgspec.json.decode(body)
    except ValueError:
        # Two things it refuses and Spec 01 section 4 takes: a lone surrogate, a minus in front of 4,300 digits.
        if _SURROGATE_ESCAPE.search(body) is None and _LONGEST_NEGATIVE.search(body) is None:
            return NOT_JSON
    try:
        return mended(_plain.decode(body))
    except ValueError:
        return NOT_JSON


def _parsed_on_a_fresh_stack(body: str) -> object:
    """Parse where 512 levels fit: what a text means cannot hang on how deep its reader's caller stands."""
    from threading import Thread

    found: list[object] = []

    def parse() -> None:
        try:
            found.append(_parsed(body))
        except RecursionError:
            found.append(NOT_JSON)

    thread = Thread(target=parse)
    try:
        thread.start()
    except RuntimeError:  # no room for another stack: the text itself is still a right answer
        return NOT_JSON
    thread.join()
    return found[0]


def _deeper(value: object, limit: int) -> bool:
    """Tell whether a value nests deeper than `limit` levels."""
    level: list[object] = [value]
    for _ in range(limit):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(cast("dict[str, object]", item).values())
            elif isinstance(item, list):
                below.extend(cast("list[object]", item))
        level = [item for item in below if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def mended(value: object) -> object:
    """Return a copy of the JSON value with every lone surrogate in its texts and keys replaced by U+FFFD."""
    top: list[object] = [value]
    todo: list[list[object] | dict[str, object]] = [top]
    while todo:
        holder = todo.pop()
        places = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for place, item in places:
            new = item
            if isinstance(item, str):
                new = mended_text(item)
            elif isinstance(item, dict):
                new = {mended_text(key): below for key, below in cast("dict[str, object]", item).items()}
                todo.append(new)
            elif isinstance(item, list):
                new = list(cast("list[object]", item))
                todo.append(new)
            holder[place] = new  # pyright: ignore[reportArgumentType, reportCallIssue] -- the holder's own places
    return top[0]


def mended_text(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
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

"""An independent reading of Spec 03's list of writings, as regular expressions, to hold redaction against."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

ALPHABETS = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
)

# The backslashes of an escape, and of one within JSON that is itself a text of JSON.
SLASHES = (rb"\\", rb"\\\\", rb"\\\\\\")


def patterns(secret: str) -> list[re.Pattern[bytes]]:
    """Every way to write `secret`, one pattern for text and one for each alignment of base64."""
    return [
        re.compile(_text(secret), re.DOTALL),
        *(re.compile(_base64(secret.encode(), k)) for k in range(3)),
    ]


def spans(secrets: tuple[str, ...], data: bytes) -> list[tuple[int, int]]:
    """Where a writing stands, by trying every stretch of `data`; overlapping ones as one."""
    found = sorted(
        {
            (begin, end)
            for secret in secrets
            for pattern in patterns(secret)
            for begin in range(len(data))
            for end in range(begin + len(secret), len(data) + 1)
            if pattern.fullmatch(data, begin, end)
        }
    )
    joined: list[tuple[int, int]] = []
    for begin, end in found:
        if joined and begin < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def _text(secret: str) -> bytes:
    return b"".join(_char(char) for char in secret)


def _char(char: str) -> bytes:
    by_byte = b"".join(
        b"(?:" + re.escape(bytes([byte])) + b"|%(?:25)?" + _hex(f"{byte:02x}") + b")" for byte in char.encode()
    )
    units = char.encode("utf-16-be").hex()
    ways = [by_byte]
    short = {"/": "/", **{chr(code): json.dumps(chr(code))[2:3] for code in b'"\\\b\f\n\r\t'}}
    for slashes in SLASHES:
        ways.append(b"".join(slashes + b"u" + _hex(units[at : at + 4]) for at in range(0, len(units), 4)))
        if char in short:
            ways.append(slashes + re.escape(short[char].encode()))
    if char == " ":
        ways.append(rb"\+")
    return b"(?:" + b"|".join(ways) + b")"


def _hex(digits: str) -> bytes:
    return "".join(f"[{digit}{digit.upper()}]" for digit in digits).encode()


def _base64(data: bytes, before: int) -> bytes:
    """The characters of base64 that carry a bit of `data` behind `before` other bytes, then padding."""
    bits = "?" * 8 * before + "".join(f"{byte:08b}" for byte in data)
    bits += "?" * (-len(bits) % 6)
    groups = [bits[at : at + 6] for at in range(0, len(bits), 6)]
    carrying = [group for group in groups if set(group) != {"?"}]
    escaped = b"|".join(b"(?:" + slashes + b"r)?" + slashes + b"n" for slashes in SLASHES)
    gap = rb"(?:\r?\n|" + escaped + b")?"
    body = gap.join(b"(?:" + b"|".join(_written(char) for char in _chars(group)) + b")" for group in carrying)
    return body + b"(?:" + _written("=") * (-(before + len(data)) % 3) + b")?"


def _chars(group: str) -> Iterator[str]:
    fits = re.compile(group.replace("?", "."))
    for value in range(64):
        if fits.fullmatch(f"{value:06b}"):
            yield from {alphabet[value] for alphabet in ALPHABETS}


def _written(char: str) -> bytes:
    ways = [re.escape(char.encode()), b"%(?:25)?" + _hex(f"{ord(char):02x}")]
    ways += [slashes + b"u" + _hex(f"{ord(char):04x}") for slashes in SLASHES]
    ways += [slashes + b"/" for slashes in SLASHES if char == "/"]
    return b"(?:" + b"|".join(ways) + b")"


def percent_encoded(text: str, keep: Iterator[bool], *, lower: bool = False) -> bytes:
    """Percent-encode every byte for which `keep` does not say True."""
    style = "%{:02x}" if lower else "%{:02X}"
    return b"".join(bytes([byte]) if next(keep) else style.format(byte).encode() for byte in text.encode())


def in_base64(secret: str, before: bytes, after: bytes, *, url: bool = False) -> bytes:
    """Base64 of the secret between other bytes."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return encode(before + secret.encode() + after)

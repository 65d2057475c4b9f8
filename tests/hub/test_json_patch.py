"""JSON output is patched in place: it still parses, and every byte that is not hidden stays."""

from __future__ import annotations

import json

import pytest

from hcpx.hub.redaction import SecretRedaction
from hcpx.vocabulary.binding import Binding

CASES = {
    "white space, key order and number writings stay": (
        ("tok-ada-1",),
        b'\r\n{"z" : 1.50e+0,\t"a":"tok-ada-1" ,\n "n": 1E400000 }'.replace(b"1E400000", b"-0"),
        b'\r\n{"z" : 1.50e+0,\t"a":"[redacted]" ,\n "n": -0 }',
    ),
    "a byte-order mark stays": (("tok-ada-1",), b'\xef\xbb\xbf["tok-ada-1"]', b'\xef\xbb\xbf["[redacted]"]'),
    "duplicate keys stay": (
        ("tok-ada-1",),
        b'{"a":1,"a":"tok-ada-1","a":2}',
        b'{"a":1,"a":"[redacted]","a":2}',
    ),
    "escapes beside the secret stay as they are": (
        ("tok-ada-1",),
        rb'["\u00e9\/\n tok-ada-1 \ud83d\ude00 \ud800"]',
        rb'["\u00e9\/\n [redacted] \ud83d\ude00 \ud800"]',
    ),
    "a number becomes a text": (
        ("1234567",),
        b"[1234567, -1234567, 12345.67]",
        b'["[redacted]", "[redacted]", 12345.67]',
    ),
    "a lone number becomes a text": (("1234567",), b" 1234567\n", b' "[redacted]"\n'),
    "json within json": (
        ('p"s/s\\w\nx',),
        json.dumps([json.dumps({"t": 'p"s/s\\w\nx'})]).encode(),
        rb'["{\"t\": \"[redacted]\"}"]',
    ),
    "an escape of an escape": (
        ("abcdef",),
        rb'["\u005cu0061bcdef", "\\u0061bcdef", "\u002561bcdef"]',
        b'["[redacted]", "[redacted]", "[redacted]"]',
    ),
    "an escape that takes the first letter": (("nabcdef",), rb'["x\nabcdef"]', b'["[redacted]"]'),
    "a secret with its quotes": (('"quoted-secret"',), b'["quoted-secret"]', b'["[redacted]"]'),
    "a secret over several values": (
        ('ab","cd',),
        b'["ab","cd", 7, true]',
        b'["[redacted]","[redacted]", 7, true]',
    ),
    "a secret of short leaves as a whole": (
        ('{"a":"b","n":12}',),
        b'{"a":"b","n":12}',
        b'{"[redacted]":"[redacted]","[redacted]":"[redacted]"}',
    ),
    "a secret of brackets": (("[[[]]]",), b"[[[]]]", b'"[redacted]"'),
    "a secret over a literal": (('u",true',), b'["u",true]', b'["[redacted]","[redacted]"]'),
    "the mark as a secret": (("redacted",), b'["[redacted]", "redacted"]', b'["[redacted]", "[redacted]"]'),
    "almost json": (("tok-ada-1",), b'{"a": "tok-ada-1",}', b'{"a": "[redacted]",}'),
    "json that is not UTF-8": (("tok-ada-1",), b'["tok-ada-1\xff"]', b'["[redacted]\xff"]'),
    "two texts": (("1234567",), b"1234567\n1234567\n", b"[redacted]\n[redacted]\n"),
    "an empty text": (("1234567",), b"", b""),
}  # fmt: skip


@pytest.mark.parametrize(("secrets", "printed", "shown"), CASES.values(), ids=CASES.keys())
def test_printed_becomes_shown(secrets: tuple[str, ...], printed: bytes, shown: bytes) -> None:
    assert SecretRedaction().of(Binding("user", secrets=secrets)).output(printed) == shown


def test_deep_json_is_patched_as_deep_as_json_goes() -> None:
    redactor = SecretRedaction().of(Binding("user", secrets=("tok-ada-1",)))
    for depth in (511, 512, 513, 100_000):
        text = b"[" * depth + b'"tok-ada-1"' + b"]" * depth
        assert redactor.output(text) == text.replace(b"tok-ada-1", b"[redacted]")

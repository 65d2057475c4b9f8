"""Nothing hidden survives in any listed form, and nothing else changes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import urllib.parse
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hcpx.hub.redaction import UNREDACTED, SecretRedaction
from hcpx.vocabulary.binding import PUBLIC, Binding
from tests.hub import writings

if TYPE_CHECKING:
    from hcpx.ports import Redactor

SECRET = 'p@ss/w+rd=="q'
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
UNICODE = "пароль-€-😀-x"


def redactor(*secrets: str) -> Redactor:
    return SecretRedaction().of(Binding("user", secrets=secrets))


FORMS = {
    "raw": SECRET,
    "percent": urllib.parse.quote(SECRET, safe=""),
    "percent, lower case": urllib.parse.quote(SECRET, safe="").lower(),
    "percent, needless": "".join(f"%{byte:02x}" for byte in SECRET.encode()),
    "percent, a part": "p%40ss/w+rd=%3D%22q",
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 without padding": base64.b64encode(SECRET.encode()).decode().rstrip("="),
    "base64url": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "base64url without padding": base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
    "base64, percent-encoded": urllib.parse.quote(base64.b64encode(SECRET.encode()).decode(), safe=""),
    "json": json.dumps(SECRET)[1:-1],
    "json, unicode escapes": "".join(f"\\u{ord(char):04X}" for char in SECRET),
    "json within json": json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
    "percent, twice": urllib.parse.quote(urllib.parse.quote(SECRET, safe=""), safe=""),
    "json, solidus": SECRET.replace("/", "\\/").replace('"', '\\"'),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_each_form_is_hidden_in_text_and_in_json(form: str) -> None:
    hides = redactor(SECRET)
    assert hides.output(f"key={form};".encode()) == b"key=[redacted];"
    assert hides.text(f"key={form};") == "key=[redacted];"
    document = json.dumps({"a": f"key={form};", form: [form]})
    assert hides.output(document.encode()) == b'{"a": "key=[redacted];", "[redacted]": ["[redacted]"]}'


@pytest.mark.parametrize("before", range(3))
@pytest.mark.parametrize("after", range(3))
@pytest.mark.parametrize("secret", [SECRET, UNICODE, "abcdef", "abcdefg", "abcdefgh"])
def test_unaligned_base64_hides_every_character_that_carries_a_bit(before: int, after: int, secret: str) -> None:
    written = writings.in_base64(secret, b"?" * before, b"?" * after)
    size = len(secret.encode())
    head, tail = 8 * before // 6, -(-8 * (before + size) // 6)
    rest = written[tail:] if after else b""
    assert redactor(secret).output(written) == written[:head] + b"[redacted]" + rest


def test_base64_is_hidden_across_its_line_breaks() -> None:
    wrapped = base64.encodebytes(b"user:" + JWT.encode())
    assert b"\n" in wrapped[:-1]
    assert redactor(JWT).output(b"<" + wrapped + b">") == b"<" + wrapped[:6] + b"[redacted]\n>"
    escaped = wrapped.replace(b"\n", b"\\n")
    assert redactor(JWT).output(b"<" + escaped + b">") == b"<" + wrapped[:6] + b"[redacted]\\n>"


def test_a_blank_is_hidden_in_each_of_its_forms() -> None:
    hides = redactor("open sesame now")
    for form in ("open sesame now", "open+sesame+now", "open%20sesame+now", "open\\u0020sesame now"):
        assert hides.output(form.encode()) == b"[redacted]"


def test_bytes_of_many_byte_characters_are_hidden_in_any_mixture() -> None:
    hides = redactor(UNICODE)
    keep = iter([True, False] * len(UNICODE.encode()))
    assert hides.output(b"\xff" + writings.percent_encoded(UNICODE, keep) + b"\xfe") == b"\xff[redacted]\xfe"
    assert hides.output(json.dumps({"k": UNICODE}).encode()) == b'{"k": "[redacted]"}'
    assert hides.text(json.dumps(UNICODE)) == '"[redacted]"'


def test_short_secrets_are_not_searched_for() -> None:
    assert redactor("12345", "") is UNREDACTED
    assert redactor("ééééé") is UNREDACTED
    assert redactor("éééééé").text("<éééééé>") == "<[redacted]>"


def test_without_secrets_nothing_is_looked_at() -> None:
    hides = SecretRedaction().of(PUBLIC)
    data = b'{"a": "\\u0041"}'
    assert hides is UNREDACTED
    assert hides.output(data) is data
    assert hides.stream().feed(data) is data
    assert hides.stream().finish() == b""


def test_overlapping_and_nested_secrets_become_one_mark() -> None:
    hides = redactor("abcdef-123456", "123456-uvwxyz", "cdef-12", "abcdef")
    assert hides.output(b"<abcdef-123456-uvwxyz>") == b"<[redacted]>"
    assert hides.output(b"<abcdef-12345>") == b"<[redacted]-12345>".replace(b"]-12345", b"]345")
    assert hides.output(b"abcdefabcdef abcde") == b"[redacted][redacted] abcde"


def test_secrets_made_of_the_mark_are_hidden_and_marks_are_not_marked_again() -> None:
    for secret in ("redacted", "[redacted]", "redact"):
        hides = redactor(secret)
        assert hides.output(b"[redacted]") == b"[redacted]"
        assert hides.text(hides.text("redacted redact [redacted]")) == hides.text("redacted redact [redacted]")
    assert redactor("my-redacted-key").output(b"my-redacted-key redacted") == b"[redacted] redacted"


def test_a_structured_secret_is_hidden_as_a_whole_and_by_its_leaves() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nab\n-----END KEY-----\n"
    secret = json.dumps({"type": "sa", "id": 1234567, "key": key, "more": [["deep-leaf"], "short"]})
    hides = redactor(secret)
    assert hides.output(secret.encode() + b"!") == b"[redacted]!"
    assert hides.output(b"deep-leaf MIIEvQIBADANBg ab short 1234567") == b"[redacted] [redacted] ab short 1234567"
    assert hides.output(key.encode()) == b"[redacted]"
    assert json.loads(hides.output(secret.encode())) == {"[redacted]": [["[redacted]"], "[redacted]"]}
    other = json.dumps({"id": 1234567, "key": key, "more": ["deep-leaf", "short"]}, indent=1)
    assert json.loads(hides.output(other.encode())) == {
        "id": 1234567,
        "key": "[redacted]",
        "more": ["[redacted]", "short"],
    }


def test_an_indented_line_of_a_secret_is_hidden_by_its_words() -> None:
    assert redactor("machine x\n\tlogin-of-mine \r\n").output(b"login-of-mine.") == b"[redacted]."


def test_live_output_that_cannot_become_a_secret_is_shown_at_once() -> None:
    stream = redactor("tok-bank-7f3a").stream()
    assert stream.feed(b"hello\n") == b"hello\n"
    assert stream.feed(b"a tok-bank-") == b"a "
    assert stream.feed(b".") == b"tok-bank-."
    assert stream.feed(b"tok-ba") == b""
    assert stream.feed(b"nk-7f3a") == b"[redacted]"
    assert stream.feed(b"%7") == b""
    assert stream.finish() == b"%7"


def test_a_mark_is_out_once_though_its_secret_reaches_into_the_next_one() -> None:
    stream = redactor("abcabc", "cabcde").stream()
    shown = [stream.feed(bytes([byte])) for byte in b"abcabcabcde."]
    assert b"".join(shown) + stream.finish() == b"[redacted]."
    assert redactor("abcabc", "cabcde").output(b"abcabcabcde.") == b"[redacted]."


def test_values_are_redacted_in_keys_texts_and_numbers() -> None:
    hides = redactor("1234567", "tok-ada-1")
    value = {"tok-ada-1": [1234567, 123, True, None, 0.1234567, ("x tok-ada-1",)], "k": {"n": 12345678.5}}
    assert hides.value(value) == {
        "[redacted]": ["[redacted]", 123, True, None, "0.[redacted]", ["x [redacted]"]],
        "k": {"n": "[redacted]8.5"},
    }
    assert hides.value({"a": "x tok-ada-1"}, lambda text: f"<{len(text)}>") == {"a": "x <9>"}
    clean = {"a": ["b", 1]}
    assert hides.value(clean) is clean


def test_a_value_that_json_cannot_say_is_redacted_all_the_same() -> None:
    assert redactor("tok-ada-1").value(["\ud800 tok-ada-1", 10**400]) == ["\ud800 [redacted]", 10**400]


def test_deep_values_are_redacted() -> None:
    value: object = "tok-ada-1"
    for _ in range(5000):
        value = [value]
    found = redactor("tok-ada-1").value(value)
    while isinstance(found, list):
        found = found[0]
    assert found == "[redacted]"


def test_no_secret_shows_in_a_repr() -> None:
    hides = redactor("tok-ada-1")
    assert "tok-ada" not in repr(hides) + repr(hides.stream()) + repr(Binding("user", secrets=("tok-ada-1",)))


HOSTILE = {
    "a run of one letter": ("a" * 64, b"a" * (1 << 20)),
    "a run that never ends in the secret": ("a" * 63 + "b", b"a%61" * (1 << 18)),
    "two letters by turns": ("ab" * 300 + "c", b"ab%61b" * (1 << 18)),
    "backslashes": ("\\" * 40 + "x", b"\\" * (1 << 20)),
    "percent signs": ("%25" * 20 + "x", b"%25" * (1 << 18)),
    "escapes everywhere": ("tok-ada-1", b"\\u0074%6f" * (1 << 17)),
    "strings of json": ("tok-ada-1", json.dumps(['tok-ada-1"'] * (1 << 15)).encode()),
}


@pytest.mark.parametrize(("secret", "data"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_read_to_their_end(secret: str, data: bytes) -> None:
    redacted = redactor(secret).output(data)
    assert secret.encode() not in redacted


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=40)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.binary(max_size=30), st.binary(max_size=30), st.data())
def test_no_form_survives_between_any_bytes_over_any_cuts(
    secret: str, before: bytes, after: bytes, data: st.DataObject
) -> None:
    form = data.draw(
        st.sampled_from(
            [
                secret.encode(),
                json.dumps(secret).encode()[1:-1],
                urllib.parse.quote(secret).encode(),
                urllib.parse.quote_plus(secret).encode(),
                writings.in_base64(secret, before, after),
                writings.in_base64(secret, before, after, url=True).rstrip(b"="),
            ]
        )
    )
    text = before + form + after
    places = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=5))})
    stream = redactor(secret).stream()
    shown = b"".join(stream.feed(text[begin:end]) for begin, end in pairwise(places)) + stream.finish()
    for redacted in (shown, redactor(secret).output(text)):
        assert b"[redacted]" in redacted
        pieces = redacted.split(b"[redacted]")
        assert not any(pattern.search(piece) for pattern in writings.patterns(secret) for piece in pieces)


@settings(max_examples=150, deadline=None)
@given(TEXTS, JSONS, st.integers(0, 2))
def test_a_json_text_without_the_secret_is_the_same_to_the_last_byte(secret: str, value: object, indent: int) -> None:
    text = json.dumps(value, indent=indent or None, ensure_ascii=indent == 1).encode("utf-8", "surrogatepass")
    if writings.spans((secret,), text):
        return
    assert redactor(secret).output(text) == text


@settings(max_examples=150, deadline=None)
@given(TEXTS, JSONS, st.booleans(), st.data())
def test_a_json_text_with_the_secret_parses_to_the_redacted_value(
    secret: str,
    value: object,
    ascii_only: bool,
    data: st.DataObject,
) -> None:
    form = data.draw(st.sampled_from([secret, urllib.parse.quote(secret), json.dumps(secret)]))
    whole = {"a": value, form: [f"x{form}y", value]}
    text = json.dumps(whole, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    redacted = redactor(secret).output(text)
    assert not writings.spans((secret,), redacted.replace(b"[redacted]", b"\0"))
    if b"\xed" not in text:
        json.loads(redacted)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), TEXTS)
def test_any_bytes_are_redacted_without_an_error(data: bytes, secret: str) -> None:
    redactor(secret).output(data)
    redactor(secret).text(data.decode("utf-8", "surrogateescape"))


def test_a_call_without_secrets_loads_nothing_that_redacts() -> None:
    script = (
        "import sys; from hcpx.hub.redaction import SecretRedaction as R;"
        "from hcpx.vocabulary.binding import PUBLIC;"
        "R().of(PUBLIC); import hcpx.hub.hub, hcpx.hub.seal;"
        "names = ('cryptography', 'keyring', 'hcpx.hub.redactor', 'hcpx.hub.spelling', 'hcpx.hub.os_');"
        "print([name for name in sys.modules if name.startswith(names)])"
    )
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
    assert shown.stdout == "[]\n"

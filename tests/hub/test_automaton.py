"""Spans of secrets in bytes: exactly those that a plain reading of the spec finds."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hcpx.hub.automaton import Automaton
from hcpx.hub.glance import Glance
from hcpx.hub.mark import hidden
from hcpx.hub.redaction import SecretRedaction
from hcpx.hub.redactor import SecretRedactor
from hcpx.hub.spelling import Speller, searched
from hcpx.vocabulary.binding import Binding
from tests.hub import writings

# Few characters, so that secrets overlap, repeat, and look like pieces of escapes.
TRICKY = st.text(alphabet='ab%25\\un/+ ]"é0', min_size=6, max_size=8)
FILL = st.text(alphabet='ab%25\\un/+=A\n"é0', max_size=6)


@st.composite
def writing(draw: st.DrawFn, secret: str) -> bytes:
    kind = draw(st.sampled_from(["raw", "part", "percent", "json", "dumps", "nested", "form", "base64"]))
    if kind == "raw":
        return secret.encode()
    if kind == "part":
        begin = draw(st.integers(0, len(secret)))
        return secret[begin : draw(st.integers(begin, len(secret)))].encode()
    if kind == "percent":
        return writings.percent_encoded(secret, iter(draw(st.lists(st.booleans(), min_size=32, max_size=32))))
    if kind == "dumps":
        return json.dumps(secret)[1:-1].encode()
    if kind == "nested":
        return json.dumps(json.dumps(secret)).encode()
    if kind == "json":
        return "".join(f"\\u{ord(char):04x}" if draw(st.booleans()) else char for char in secret).encode()
    if kind == "form":
        return secret.replace(" ", "+").replace("/", "\\/").encode()
    around = st.binary(max_size=3)
    return writings.in_base64(secret, draw(around), draw(around), url=draw(st.booleans()))


@st.composite
def planted(draw: st.DrawFn) -> tuple[tuple[str, ...], bytes]:
    secrets = tuple(draw(st.lists(TRICKY, min_size=1, max_size=2, unique=True)))
    pieces = draw(st.lists(st.one_of(FILL.map(str.encode), *(writing(secret) for secret in secrets)), max_size=4))
    return secrets, b"".join(pieces)


def automaton(secrets: tuple[str, ...]) -> Automaton:
    speller = Speller()
    return Automaton((spelling for secret in secrets for spelling in speller.spellings(secret)), 0)


@settings(max_examples=400, deadline=None)
@given(planted())
@example((("%25%25a",), b"%25%2525%25%61"))
@example((("\\\\\\\\\\\\",), b"\\" * 20))
@example((("aaaaaa",), b"aaaaaaa%61aaaaaaaa"))
@example((("aaaaaa", "baaaaaab"), b"baaaaaaab baaaaaab"))
@example((("%%%%25",), b"%25%%25%25%%2525"))
def test_spans_are_those_that_a_plain_reading_finds(case: tuple[tuple[str, ...], bytes]) -> None:
    secrets, data = case
    expected = writings.spans(searched(secrets), data)
    assert automaton(searched(secrets)).spans(data) == expected
    assert not (expected and Glance(searched(secrets)).clean(data))


@settings(max_examples=200, deadline=None)
@given(planted(), st.lists(st.integers(0, 60), max_size=6))
def test_a_stream_hides_the_same_wherever_it_is_cut(case: tuple[tuple[str, ...], bytes], cuts: list[int]) -> None:
    secrets, data = case
    stream = redactor(*secrets).stream()
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    shown = b"".join(stream.feed(data[begin:end]) for begin, end in pairwise(places))
    assert shown + stream.finish() == hidden(data, writings.spans(searched(secrets), data))


def redactor(*secrets: str) -> SecretRedactor:
    found = SecretRedaction().of(Binding("user", secrets=secrets))
    assert isinstance(found, SecretRedactor)
    return found

from __future__ import annotations

import pytest

from hcpx.adapters.printed import Live, Printed, printed, value_of
from tests.adapters.redaction import OneSecret

NOTHING = OneSecret(b"")
SECRET = OneSecret(b"s3cret!")


def head(data: bytes, cap: int, redactor: OneSecret = NOTHING) -> Printed:
    """A stream of which the sandbox kept what the adapter asks for."""
    return printed(data[: cap + redactor.slack], len(data), cap, redactor)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", Printed("", None, cut=False)),
        (b"hello\n", Printed("hello\n", None, cut=False)),
        ("é\U0001f600".encode(), Printed("é\U0001f600", None, cut=False)),
        (b"\xef\xbb\xbf{}", Printed("\ufeff{}", None, cut=False)),
        (b"a\xffb", Printed("a\ufffdb", b"a\xffb", cut=False)),
        (b"\xed\xa0\x80", Printed("\ufffd\ufffd\ufffd", b"\xed\xa0\x80", cut=False)),
        (b"\0\x1b[31m", Printed("\0\x1b[31m", None, cut=False)),
        (b"x" * 100, Printed("x" * 100, None, cut=False)),
        (b"x" * 101, Printed("x" * 100, None, cut=True)),
    ],
)
def test_a_stream_is_shown_as_text_with_its_bytes_beside_it_where_they_are_not_utf8(
    data: bytes, expected: Printed
) -> None:
    assert head(data, 100) == expected


@pytest.mark.parametrize("char", ["é", "€", "\U0001f600"])
def test_a_cut_stream_ends_on_a_whole_character(char: str) -> None:
    size = len(char.encode())
    for before in range(5):
        data = b"x" * before + char.encode() * 5
        for cap in range(len(data)):
            shown = head(data, cap)
            assert shown == Printed(data[:cap].decode("utf-8", "ignore"), None, cut=True)
            assert cap - len(shown.text.encode()) < size


@pytest.mark.parametrize("cap", range(1, 6))
def test_a_cut_stream_of_other_bytes_keeps_them(cap: int) -> None:
    data = b"\xff\x80\x80\x80\x80\x80\xc3\xa9"
    shown = head(data, cap)
    assert (shown.data, shown.cut) == (data[:cap], True)


@pytest.mark.parametrize("cap", range(1, 40))
def test_no_part_of_a_secret_is_shown_wherever_the_cap_falls(cap: int) -> None:
    data = b"......s3cret!...s3cret!s3cret!.....s3cret!"
    shown = head(data, cap, SECRET).text
    rest = shown.replace("[redacted]", "")
    assert not any(part in rest for part in ("s3", "3c", "cr", "et", "t!"))
    assert len(shown) <= cap


def test_a_secret_that_began_before_the_end_of_what_was_kept_is_not_shown_though_the_text_got_shorter() -> None:
    long = OneSecret(b"S" * 50)
    data = b"S" * 50 + b"x" * 10 + b"S" * 50 + b"y" * 100
    for cap in range(40, 120):
        assert "S" not in head(data, cap, long).text


def test_a_redacted_text_may_get_longer_than_the_cap_without_being_cut() -> None:
    assert head(b"s3cret!", 7, SECRET) == Printed("[redacted]", None, cut=False)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"n": 1}', {"n": 1}),
        (b" [1, 2]\n", [1, 2]),
        (b"null", None),
        (b"42", 42),
        (b"\xef\xbb\xbf{}", {}),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'"\\ud800"', "\ufffd"),
        (b"", ""),
        (b"NaN", "NaN"),
        (b"WARN\n{}", "WARN\n{}"),
        (b'{"n":"caf\xe9"}', '{"n":"caf\ufffd"}'),
        (b'{"n":"s3cret!"}', {"n": "[redacted]"}),
        (b'{"n":"\\u0073\\u0033cret!"}', {"n": "[redacted]"}),
        (b"1 " + b"x" * 200, "1 " + "x" * 98),
        (b"1" + b" " * 200, "1" + " " * 99),
    ],
)
def test_only_a_whole_utf8_json_text_is_read(data: bytes, expected: object) -> None:
    value = value_of(head(data, 100, SECRET), SECRET)
    assert value == expected
    assert type(value) is type(expected)


def test_live_output_is_redacted_across_reads_and_ends_at_the_cap() -> None:
    seen: list[tuple[str, bytes]] = []
    live = Live(lambda name, data: seen.append((name, data)), SECRET, 25)
    for name, data in [
        ("stdout", b"a s3c"),
        ("stderr", b"err s"),
        ("stdout", b"ret! b s3"),
        ("stdout", b" done"),
        ("stdout", b"x" * 100),
        ("stdout", b"never"),
    ]:
        live.take(name, data)
    live.finish()
    assert seen == [
        ("stdout", b"a "),
        ("stderr", b"err "),
        ("stdout", b"[redacted] b "),
        ("stdout", b"s3 done"),
        ("stdout", b"xxx"),
        ("stderr", b"s"),
    ]


def test_a_repr_tells_nothing_of_the_text() -> None:
    assert "hello" not in repr(head(b"hello\xff", 100))

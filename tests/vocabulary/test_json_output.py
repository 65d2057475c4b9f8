"""What a program printed, read as JSON or left as text (Spec 01 section 4)."""

from __future__ import annotations

import inspect
import json
import sys
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary import json_text
from hcpx.vocabulary.json_text import (
    MAX_DIGITS,
    NOT_JSON,
    OUTPUT_DEPTH,
    encode,
    mended,
    mended_text,
    parse_output,
)


def nested(levels: int, inner: str = "") -> str:
    return "[" * levels + inner + "]" * levels


def mixed(levels: int) -> str:
    return '{"a":[' * (levels // 2) + '"x"' + "]}" * (levels // 2)


def on_a_full_stack(text: str) -> object:
    """Read the text where only some sixty calls more are allowed."""
    used, frame = 0, inspect.currentframe()
    while frame is not None:
        used, frame = used + 1, frame.f_back

    def deeper(left: int) -> object:
        return parse_output(text) if left == 0 else deeper(left - 1)

    return deeper(sys.getrecursionlimit() - used - 60)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"n": 1}\n', {"n": 1}, id="object and line break"),
        pytest.param(" \t\r\n[1] \t\r\n", [1], id="white space around"),
        pytest.param('\ufeff{"n": 1}', {"n": 1}, id="byte-order mark"),
        pytest.param("7", 7, id="number"),
        pytest.param('"x"', "x", id="text"),
        pytest.param("null", None, id="null"),
        pytest.param("false", False, id="false"),
        pytest.param("-0.5e1", -5.0, id="negative"),
        pytest.param(f"[-{'2' * MAX_DIGITS}]", [-int("2" * MAX_DIGITS)], id="a minus in front of 4,300 digits"),
        pytest.param('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}, id="last of duplicate keys"),
        pytest.param('["\\ud800","\\ud83d\\ude00"]', ["\ufffd", "😀"], id="lone surrogate"),
        pytest.param(
            '{"\\udfff":{"a":"\\udbff"},"n":[1,null]}', {"\ufffd": {"a": "\ufffd"}, "n": [1, None]}, id="keys"
        ),
        pytest.param('"\\u0000"', "\0", id="NUL"),
        pytest.param('["NaN", "Infinity", "e999"]', ["NaN", "Infinity", "e999"], id="words inside texts"),
        pytest.param("1917043659912705297", 1917043659912705297, id="19 digits"),
        pytest.param("9" * MAX_DIGITS, int("9" * MAX_DIGITS), id="4,300 digits"),
        pytest.param("1e-400", 0.0, id="too small to tell from zero"),
    ],
)
def test_json_is_parsed(text: str, value: object) -> None:
    parsed = parse_output(text)
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(" \n", id="white space"),
        pytest.param('WARN cache cold\n{"n":1}\n', id="a line in front"),
        pytest.param('{"n":1}\n{"n":2}', id="two documents"),
        pytest.param("NaN", id="NaN"),
        pytest.param("[NaN]", id="NaN inside"),
        pytest.param('["\\ud800", NaN]', id="NaN beside a lone surrogate"),
        pytest.param("-Infinity", id="infinity"),
        pytest.param("1e309", id="beyond a double"),
        pytest.param("1" * 250 + "e99", id="beyond a double by digits and exponent"),
        pytest.param('["\\ud800", 1e309]', id="beyond a double beside a lone surrogate"),
        pytest.param("1" * 400 + ".5", id="beyond a double by digits"),
        pytest.param("1" * (MAX_DIGITS + 1), id="4,301 digits"),
        pytest.param('["\\ud800", ' + "1" * (MAX_DIGITS + 1) + "]", id="4,301 digits beside a lone surrogate"),
        pytest.param("// no\n1", id="comment"),
        pytest.param("[1,]", id="trailing comma"),
        pytest.param("'x'", id="single quotes"),
        pytest.param("01", id="leading zero"),
        pytest.param("1.", id="bare point"),
        pytest.param('"\t"', id="control character"),
        pytest.param("\u00a07", id="another kind of space"),
        pytest.param("\ufeff\ufeff1", id="two byte-order marks"),
        pytest.param('"\ud800"', id="text without a UTF-8 form"),
        pytest.param("true story", id="a word that begins like JSON"),
    ],
)
def test_what_is_not_json_stays_text(text: str) -> None:
    assert parse_output(text) is NOT_JSON


@pytest.mark.parametrize("read", [parse_output, on_a_full_stack])
@pytest.mark.parametrize("inner", ["", '"\\ud800"'])
def test_512_levels_are_read_and_513_are_not_however_deep_the_caller_stands(
    inner: str, read: Callable[[str], object]
) -> None:
    assert read(nested(OUTPUT_DEPTH, inner)) == json.loads(nested(OUTPUT_DEPTH, '"\\ufffd"' if inner else ""))
    assert read(nested(OUTPUT_DEPTH + 1, inner)) is NOT_JSON


def test_deep_json_stays_text_where_no_other_stack_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    assert json_text._parsed_on_a_fresh_stack(nested(5)) == [[[[[]]]]]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert json_text._parsed_on_a_fresh_stack(nested(5)) is NOT_JSON
    assert parse_output("[" * 1_000_000) is NOT_JSON


def test_objects_count_as_levels_and_brackets_in_texts_do_not() -> None:
    assert parse_output(mixed(OUTPUT_DEPTH)) is not NOT_JSON
    assert parse_output(mixed(OUTPUT_DEPTH + 2)) is NOT_JSON
    wide = json.dumps(["[[[" * 1000] + [{"a": [1]}] * 1000)
    assert parse_output(wide) == json.loads(wide)


def test_a_bomb_of_brackets_stays_text_and_leaves_no_thread() -> None:
    before = threading.active_count()
    assert parse_output("[" * 1_000_000) is NOT_JSON
    assert parse_output(nested(100_000)) is NOT_JSON
    assert threading.active_count() == before


def test_mending_leaves_the_value_it_was_given_alone() -> None:
    broken: list[object] = ["\ud800", {"\udc00": ["a\udc00"]}, 1, None]
    assert mended(broken) == ["\ufffd", {"\ufffd": ["a\ufffd"]}, 1, None]
    assert broken == ["\ud800", {"\udc00": ["a\udc00"]}, 1, None]
    assert mended("\ud800") == "\ufffd"


@given(st.text(st.characters()))
def test_mended_text_always_has_a_utf8_form(text: str) -> None:
    mended_text(text).encode()


@given(st.text(alphabet='[]{}":,\\ud8f0 e.-+1234nulltrefasNI\ufeff'))
def test_any_text_is_what_a_second_reader_makes_of_it(text: str) -> None:
    def refuse(_: str) -> object:
        raise ValueError

    parsed = parse_output(text)
    try:
        value = mended(json.loads(text.removeprefix("\ufeff"), parse_constant=refuse))
        encode(value)
    except ValueError:
        assert parsed is NOT_JSON
    else:
        assert parsed == value

"""The strict reader of what callers send (Spec 01 section 2, Spec 08 point 1)."""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary.json_text import (
    ENVELOPE_DEPTH,
    MAX_DIGITS,
    JsonProblem,
    checked,
    encode,
    has_surrogate,
    read_strict,
)

LONGEST = "9" * MAX_DIGITS

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abé/~ ", max_size=4), inner),
    max_leaves=20,
)


@pytest.fixture
def fewest_digits() -> Iterator[None]:
    """An interpreter that was told to convert 640 digits at most."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


def problem_of(text: str) -> str:
    with pytest.raises(JsonProblem) as caught:
        read_strict(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("", "not JSON: Expecting value, line 1 column 1", id="nothing"),
        pytest.param("{", "not JSON: Expecting property name enclosed in double quotes, line 1 column 2", id="cut"),
        pytest.param("{}\n x", "not JSON: Extra data, line 2 column 2", id="trailing text"),
        pytest.param("\ufeff{}", "not JSON: Expecting value, line 1 column 1", id="byte-order mark"),
        pytest.param("[1,]", "not JSON: Expecting value, line 1 column 4", id="trailing comma"),
        pytest.param('"\t"', "not JSON: Invalid control character at, line 1 column 2", id="control character"),
        pytest.param('{"a": NaN}', "NaN is not JSON", id="NaN"),
        pytest.param("-Infinity", "-Infinity is not JSON", id="infinity"),
        pytest.param("1e309", "a number is beyond the range of a double", id="too large"),
        pytest.param("-1e309", "a number is beyond the range of a double", id="too small"),
        pytest.param("1" * 310 + ".0", "a number is beyond the range of a double", id="long with a point"),
        pytest.param("1" + LONGEST, "an integer has more than 4300 digits", id="long integer"),
        pytest.param("-1" + LONGEST, "an integer has more than 4300 digits", id="long negative integer"),
        pytest.param('{"a":1,"a":1}', "duplicate key at a", id="duplicate key"),
        pytest.param('{"a":[{"b":{"c":1,"d":2,"c":3}}]}', "duplicate key at a[0].b.c", id="deep duplicate"),
        pytest.param('{"":1,"":1}', 'duplicate key at ""', id="duplicate empty key"),
        pytest.param('{"a":1,"b":1,"b":2,"a":3}', "duplicate key at b", id="first duplicate"),
        pytest.param('{"a":{"x":1,"x":2},"a":1}', "duplicate key at a", id="duplicate in what a duplicate hides"),
        pytest.param('{"a\\n":1,"a\\n":1}', "duplicate key at a\\u{000A}", id="duplicate with a line break"),
        pytest.param('{"\\u0061":1,"a":2}', "duplicate key at a", id="duplicate by escape"),
        pytest.param('{"a":["x\\u0000"]}', "a string holds NUL at a[0]", id="NUL"),
        pytest.param('{"a":{"x\\u0000":1}}', "a string holds NUL at a", id="NUL in a key"),
        pytest.param('"\\u0000"', "a string holds NUL", id="NUL at the top"),
        pytest.param('{"a":"\\ud800"}', "a string holds a lone surrogate at a", id="lone surrogate"),
        pytest.param('{"a":"\\udc00\\ud800"}', "a string holds a lone surrogate at a", id="swapped surrogates"),
        pytest.param('{"a":{"\\ud800":1}}', "a string holds a lone surrogate at a", id="surrogate in a key"),
        pytest.param("[" * 100_000, "nested too deep", id="bomb"),
    ],
)
def test_what_is_not_strict_json_is_refused_and_the_place_is_named(text: str, what: str) -> None:
    assert problem_of(text) == what


def test_a_deep_place_is_named_by_its_head() -> None:
    assert problem_of('{"' + "k" * 5000 + '":{"":1,"":2}}') == "duplicate key at " + "k" * 200


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_the_64th_level_is_read_and_the_65th_is_not(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    deepest = opening * (ENVELOPE_DEPTH - 1) + ("[]" if opening == "[" else "{}") + closing * (ENVELOPE_DEPTH - 1)
    assert encode(read_strict(deepest)).decode() == deepest
    assert problem_of(f"{opening}{deepest}{closing}").startswith("nested too deep at ")


def test_integers_have_their_own_limit_and_doubles_theirs() -> None:
    assert read_strict(LONGEST) == int(LONGEST)
    assert read_strict("-" + LONGEST) == -int(LONGEST)
    assert read_strict("[1.7976931348623157e308, 9007199254740993, 1e-400]") == [
        1.7976931348623157e308,
        9007199254740993,
        0.0,
    ]


@pytest.mark.usefixtures("fewest_digits")
def test_an_integer_that_this_interpreter_cannot_write_is_refused() -> None:
    assert read_strict("9" * 640) == 10**640 - 1
    assert checked(10**640 - 1) == 10**640 - 1
    assert problem_of("1" + "0" * 640) == "an integer has more than 4300 digits"
    with pytest.raises(JsonProblem, match=r"^an integer has more than 4300 digits at a$"):
        checked({"a": 10**640})


@pytest.mark.parametrize(
    ("value", "what"),
    [
        pytest.param(float("nan"), "a number is not finite", id="NaN"),
        pytest.param([float("inf")], "a number is not finite at [0]", id="infinity"),
        pytest.param({"a": {1}}, "a value of type set is not JSON at a", id="set"),
        pytest.param({"a": b"x"}, "a value of type bytes is not JSON at a", id="bytes"),
        pytest.param({"a": {1: 2}}, "a key is not a string at a", id="key"),
        pytest.param(10**MAX_DIGITS, "an integer has more than 4300 digits", id="long integer"),
        pytest.param(-(10**MAX_DIGITS), "an integer has more than 4300 digits", id="long negative integer"),
        pytest.param({"a": {"": "\0"}}, 'a string holds NUL at a.""', id="empty key on the way"),
    ],
)
def test_a_value_built_in_python_meets_the_same_rules(value: object, what: str) -> None:
    with pytest.raises(JsonProblem) as caught:
        checked(value)
    assert str(caught.value) == what


def test_a_value_that_holds_itself_is_nested_too_deep() -> None:
    loop: dict[str, object] = {}
    loop["a"] = loop
    with pytest.raises(JsonProblem, match=r"^nested too deep at a\.a\."):
        checked(loop)


def test_a_check_on_a_full_stack_is_a_problem_and_no_crash() -> None:
    def deeper(value: object) -> object:
        try:
            return deeper(value)
        except RecursionError:
            return checked(value)

    with pytest.raises(JsonProblem, match=r"^nested too deep$"):
        deeper([[[[[[[[[[[[1]]]]]]]]]]]])


def test_what_is_checked_is_a_copy_of_plain_types() -> None:
    class Word(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "not what it holds"

    class Count(enum.IntEnum):
        ONE = 1

    class Ratio(float): ...

    mine: dict[str, object] = {
        "w": Word("a"),
        "n": Count.ONE,
        "r": Ratio(2.5),
        "l": (1, [2]),
        "t": True,
        "z": None,
    }
    copy = checked(mine)
    assert copy == {"w": "a", "n": 1, "r": 2.5, "l": [1, [2]], "t": True, "z": None}
    assert isinstance(copy, dict)
    assert [type(item) for item in copy.values()] == [str, int, float, list, bool, type(None)]
    mine["l"] = []
    assert copy["l"] == [1, [2]]


def test_a_lone_surrogate_is_told_from_a_pair() -> None:
    assert has_surrogate("\ud83d")
    assert not has_surrogate("🚲")


@given(json_values)
def test_every_json_value_is_read_back_as_it_was_written(value: object) -> None:
    assert read_strict(encode(value).decode()) == value
    assert read_strict(json.dumps(value)) == value
    assert checked(value) == value


@given(st.text())
def test_any_text_is_read_or_is_a_problem(text: str) -> None:
    try:
        read_strict(text)
    except JsonProblem as problem:
        assert str(problem)  # noqa: PT017 -- either way out is right, an exception of another kind is not

"""RFC 8785 form with integers kept whole (Spec 01 section 3)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary.json_text import canonical

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, "null", id="null"),
        pytest.param(True, "true", id="true"),
        pytest.param(False, "false", id="false"),
        pytest.param([], "[]", id="empty list"),
        pytest.param({}, "{}", id="empty object"),
        pytest.param((1, "a"), '[1,"a"]', id="tuple"),
        pytest.param({"b": 1, "a": [2.0, 2.5]}, '{"a":[2,2.5],"b":1}', id="keys in order, shortest numbers"),
        pytest.param('\b\t\n\f\r"\\/\x00\x1f\x7fé€😀', '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\x7fé€😀"', id="escapes"),
        pytest.param(1e21, "1e+21", id="exponent"),
        pytest.param(10**21, "1" + "0" * 21, id="integer without exponent"),
        pytest.param(-0.0, "0", id="negative zero"),
    ],
)
def test_a_value_has_one_canonical_text(value: object, text: str) -> None:
    assert canonical(value) == text


def test_keys_are_sorted_by_their_utf16_units() -> None:
    """The order that RFC 8785 section 3.2.3 asks for: a pair of surrogates sorts before U+FB33."""
    keys = ["€", "\r", "\ufb33", "1", "😀", "\u0080", "ö"]
    assert list(json.loads(canonical(dict.fromkeys(keys)))) == ["\r", "1", "\u0080", "ö", "€", "😀", "\ufb33"]


def test_7_and_7_point_0_are_equal_and_neighbours_beyond_2_to_the_53_are_not() -> None:
    assert canonical({"n": 7}) == canonical({"n": 7.0})
    assert canonical(9007199254740992) != canonical(9007199254740993)


def test_what_is_no_json_value_is_a_bug_of_the_caller() -> None:
    with pytest.raises(TypeError, match="not a JSON value: set"):
        canonical({1})


@given(values)
def test_canonical_text_means_the_value_and_ignores_the_order_of_keys(value: object) -> None:
    text = canonical(value)
    assert json.loads(text, parse_int=float) == json.loads(json.dumps(value), parse_int=float)
    assert canonical(json.loads(text)) == text
    if isinstance(value, dict):
        assert canonical(dict(reversed(value.items()))) == text

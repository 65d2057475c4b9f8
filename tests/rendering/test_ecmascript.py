"""ECMAScript's String of a JSON value (Spec 02 section 2 rule 3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.rendering.ecmascript import string


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("", "", id="empty text"),
        pytest.param("null", "null", id="text"),
        pytest.param(True, "true", id="true"),
        pytest.param(False, "false", id="false"),
        pytest.param(0.1, "0.1", id="float"),
        pytest.param([None, [None], "", [[]]], ",,,", id="empty places"),
        pytest.param(["a,b", 1.5], "a,b,1.5", id="commas are not escaped"),
        pytest.param({}, None, id="object"),
        pytest.param([[{}]], None, id="object deep in a list"),
        pytest.param(None, None, id="null, which is no value at all"),
    ],
)
def test_a_value_as_text(value: object, text: str | None) -> None:
    assert string(value) == text


@given(st.lists(st.text("ab") | st.none(), min_size=1))
def test_a_list_has_one_comma_less_than_items(items: list[object]) -> None:
    text = string(items)
    assert text is not None
    assert text.count(",") == len(items) - 1

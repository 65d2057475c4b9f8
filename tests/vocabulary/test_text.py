"""Text in messages (Spec 08 points 4 and 5)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary.text import ERROR_BYTES, headed, nearest, shown


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        pytest.param("Zoë 日本 🚲 \\", "Zoë 日本 🚲 \\", id="visible text"),
        pytest.param("a\nb\r\t\0\x1b[2K", "a\\u{000A}b\\u{000D}\\u{0009}\\u{0000}\\u{001B}[2K", id="control"),
        pytest.param("a\u202eb\u200bc", "a\\u{202E}b\\u{200B}c", id="format"),
        pytest.param("a\u2028b\u00a0c", "a\\u{2028}b\\u{00A0}c", id="separators"),
        pytest.param("\ud800", "\\u{D800}", id="surrogate"),
        pytest.param("\ue000\U000e0001", "\\u{E000}\\u{E0001}", id="private use and tag"),
        pytest.param("\u0378", "\\u{0378}", id="unassigned"),
    ],
)
def test_control_and_invisible_characters_are_shown_escaped(text: str, visible: str) -> None:
    assert shown(text) == visible


@given(st.text(st.characters()))
def test_what_is_shown_holds_no_character_of_the_categories_c_and_z_but_the_space(text: str) -> None:
    assert [char for char in shown(text) if char != " " and unicodedata.category(char)[0] in "CZ"] == []


def test_a_long_text_keeps_its_head_without_a_mark() -> None:
    assert headed("x" * ERROR_BYTES) == "x" * ERROR_BYTES
    assert headed("x" * (ERROR_BYTES + 1)) == "x" * ERROR_BYTES
    assert headed("short") == "short"


def test_a_head_ends_on_a_whole_character() -> None:
    assert headed("aéé", 4) == "aé"
    assert headed("a😀", 4) == "a"
    assert headed("a😀", 5) == "a😀"


@given(st.text(), st.integers(0, 50))
def test_a_head_fits_its_limit_and_is_a_head(text: str, limit: int) -> None:
    head = headed(text, limit)
    assert text.startswith(head)
    assert len(head.encode()) <= limit
    assert head == text or len((head + text[len(head)]).encode()) > limit


def test_the_nearest_known_name_is_found() -> None:
    known = ("amount", "payee", "memo")
    assert nearest("memmo", known) == "memo"
    assert nearest("zzz", known) is None
    assert nearest("memo", ()) is None


def test_a_name_longer_than_any_is_near_to_none() -> None:
    assert nearest("m" * 128, ("m" * 128,)) == "m" * 128
    assert nearest("m" * 129, ("m" * 128,)) is None

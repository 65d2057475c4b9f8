"""ECMAScript's String of a number (Spec 02 section 2 rule 3), held against a table that an engine made."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary.json_text import MAX_DIGITS, canonical, number_text, parse_output, read_strict

TABLE = [
    (struct.unpack(">d", bytes.fromhex(bits))[0], text)
    for bits, text in (
        line.split("\t") for line in (Path(__file__).parent / "data" / "doubles.tsv").read_text().splitlines()
    )
]


def test_hard_doubles_are_written_as_ecmascript_writes_them() -> None:
    assert len(TABLE) > 1000
    assert [(number, number_text(number)) for number, _ in TABLE] == TABLE


def test_both_readers_read_every_written_double_back_exactly() -> None:
    written = [number_text(number) for number, _ in TABLE]
    assert [float(str(read_strict(text))) for text in written] == [number for number, _ in TABLE]
    assert [float(str(parse_output(text))) for text in written] == [number for number, _ in TABLE]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(10, "10", id="integer"),
        pytest.param(-5, "-5", id="negative integer"),
        pytest.param(0, "0", id="zero"),
        pytest.param(-0.0, "0", id="negative zero"),
        pytest.param(10.0, "10", id="whole float"),
        pytest.param(2.8, "2.8", id="fraction"),
        pytest.param(1e21, "1e+21", id="first with an exponent"),
        pytest.param(1e20, "100000000000000000000", id="last without an exponent"),
        pytest.param(1e-6, "0.000001", id="last small one without an exponent"),
        pytest.param(1e-7, "1e-7", id="first small one with an exponent"),
        pytest.param(1e16, "10000000000000000", id="where Python begins to use an exponent"),
        pytest.param(0.00001, "0.00001", id="where Python begins to use a negative exponent"),
        pytest.param(9007199254740993, "9007199254740993", id="integer beyond 2^53"),
        pytest.param(-(10**30) - 1, "-1" + "0" * 29 + "1", id="long negative integer"),
    ],
)
def test_a_number_is_written_in_its_shortest_form(number: float, text: str) -> None:
    assert number_text(number) == text


def test_the_longest_integer_keeps_all_its_digits() -> None:
    digits = "9" * MAX_DIGITS
    assert number_text(int(digits)) == digits
    assert canonical(int(digits)) == digits


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_double_reads_back_as_the_same_double(number: float) -> None:
    text = number_text(number)
    assert float(text) == number
    assert text == number_text(float(text))


@given(st.integers())
def test_a_written_integer_reads_back_as_the_same_integer(number: int) -> None:
    assert read_strict(number_text(number)) == number
    assert parse_output(number_text(number)) == number

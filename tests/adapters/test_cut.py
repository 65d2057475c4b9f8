"""Where a stream is cut (Spec 01 section 4: it ends on a whole character)."""

from __future__ import annotations

import pytest

from hcpx.adapters.printed import _headed


@pytest.mark.parametrize(
    ("text", "cap", "left"),
    [
        ("1234é", 6, "1234é"),
        ("1234é", 5, "1234"),
        ("12€", 5, "12€"),
        ("12€", 4, "12"),
        ("12€", 3, "12"),
        ("🚲🚲", 8, "🚲🚲"),
        ("🚲🚲", 7, "🚲"),
        ("🚲🚲", 5, "🚲"),
        ("🚲🚲", 3, ""),
    ],
    ids=str,
)
def test_a_character_is_kept_whole_or_not_at_all(text: str, cap: int, left: str) -> None:
    assert _headed(text.encode(), cap).decode() == left


@pytest.mark.parametrize("byte", [0x80, 0xBF, 0xC0, 0xC1, 0xF5, 0xFF], ids=hex)
def test_a_byte_that_begins_no_character_is_kept(byte: int) -> None:
    data = bytes((byte,)) * 20
    assert _headed(data, 10) == data[:10]

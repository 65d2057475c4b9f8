"""The demo transit line as a program: the same answer every time, and bookings that are whole or absent."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from tests.packs.shipped import PACKS, SEARCH_PATH, names

if TYPE_CHECKING:
    from pathlib import Path

TRANSIT = str(PACKS / "transit/bin/transit")


def transit(folder: Path, *words: str) -> tuple[int, Any, str]:
    done = subprocess.run(
        [TRANSIT, words[0], "--json", *words[1:]] if words else [TRANSIT, "--json"],
        cwd=folder,
        env={"PATH": SEARCH_PATH},
        capture_output=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout), done.stderr.decode()


def test_a_plan_is_the_documented_one_and_writes_nothing(tmp_path: Path) -> None:
    expected = {"ok": True, "verb": "plan", "from": "A", "to": "B", "optionId": "opt-1"}
    assert transit(tmp_path, "plan", "A", "B") == (0, expected, "")
    assert transit(tmp_path, "plan", "--", "Harbour", "Market") == (0, expected, "")
    assert names(tmp_path) == []


def test_every_pair_of_stops_has_an_option_of_its_own_that_leads_there(tmp_path: Path) -> None:
    seen = set()
    for start, end in permutations("ABCDEFGH", 2):
        option = transit(tmp_path, "plan", start, end)[1]["optionId"]
        told = transit(tmp_path, "option", option)[1]
        assert (told["from"], told["to"], told["way"][0], told["way"][-1]) == (start, end, start, end)
        assert len(told["way"]) <= 5
        seen.add(option)
    assert len(seen) == 56


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "A", "A"),
        ("plan", "A", "Z"),
        ("plan", "a", "B"),
        ("plan", "", "B"),
        ("plan", "--", "--json", "B"),
        ("option", "opt-0"),
        ("option", "opt-57"),
        ("option", "opt-01"),
        ("option", "opt-"),
        ("option", "1"),
        ("book", "opt-1"),
        ("book", "opt-99", "--confirm"),
        ("book", "opt-1", "--for", "x" * 81, "--confirm"),
        ("cancel", "bk-1"),
        ("cancel", "bk-1", "--confirm"),
        ("cancel", "../x", "--confirm"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_file(words: tuple[str, ...], tmp_path: Path) -> None:
    status, out, err = transit(tmp_path, *words)
    assert (status, out["ok"], err.startswith("transit: ")) == (1, False, True)
    assert names(tmp_path) == []


@pytest.mark.parametrize("words", [(), ("nonsense",), ("plan", "A"), ("plan", "A", "B", "C"), ("stops", "--x")])
def test_a_command_line_that_cannot_be_read_is_a_usage_error(words: tuple[str, ...], tmp_path: Path) -> None:
    assert transit(tmp_path, *words)[0] == 2


def test_a_booking_is_kept_listed_and_given_back(tmp_path: Path) -> None:
    booked = transit(tmp_path, "book", "opt-1", "--for=Zoë 🚲", "--confirm")[1]
    booking = {key: value for key, value in booked.items() if key not in ("ok", "verb")}
    assert booking == {
        "bookingId": "bk-1",
        "optionId": "opt-1",
        "from": "A",
        "to": "B",
        "way": ["A", "B"],
        "minutes": 4,
        "fare": "2.80",
        "payee": "demo-transit",
        "for": "Zoë 🚲",
    }
    assert transit(tmp_path, "bookings")[1]["bookings"] == [booking]
    assert transit(tmp_path, "cancel", "bk-1", "--confirm")[0] == 0
    assert transit(tmp_path, "bookings")[1]["bookings"] == []
    assert transit(tmp_path, "cancel", "bk-1", "--confirm")[0] == 1


def test_the_number_of_a_cancelled_booking_is_not_given_out_again(tmp_path: Path) -> None:
    transit(tmp_path, "book", "opt-1", "--confirm")
    transit(tmp_path, "cancel", "bk-1", "--confirm")
    assert transit(tmp_path, "book", "opt-1", "--confirm")[1]["bookingId"] == "bk-2"


def test_eight_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: transit(tmp_path, "book", "opt-2", "--confirm"), range(24)))
    assert sorted(out["bookingId"] for _, out, _ in done) == sorted(f"bk-{n}" for n in range(1, 25))
    assert len(names(tmp_path)) == 24


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"optionId":7,"for":""}', b'{"optionId":"opt-99","for":""}'])
def test_a_damaged_booking_is_named_and_kept(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "booking-000001.json").write_bytes(damage)
    status, out, err = transit(tmp_path, "bookings")
    assert (status, out["error"]) == (1, "booking-000001.json is damaged and was left as it is")
    assert "Traceback" not in err
    assert (tmp_path / "booking-000001.json").read_bytes() == damage


def test_a_full_disk_books_nothing_and_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        ["prlimit", "--fsize=0", TRANSIT, "book", "opt-1", "--confirm"],
        cwd=tmp_path,
        env={"PATH": SEARCH_PATH},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"nothing was booked" in done.stderr, b"Traceback" in done.stderr) == (
        1,
        True,
        False,
    )
    assert names(tmp_path) == []

"""`hcpx exec`: words become one envelope, typed by the command's schema, and nothing is cut off (Spec 05 section 1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.faces.cli.exec_line import UsageError, read_line, seconds
from hcpx.faces.cli.pairs import read_pairs
from tests.cli.conftest import Hcpx
from tests.cli.shell import run

PROBE = """#!/bin/sh
printf '{"argv":['
comma=
for word; do printf '%s"%s"' "$comma" "$word"; comma=,; done
printf ']}\\n'
"""
NOTES = """hcp: 1
id: notes
version: 1.0.0
title: Notes
kind: wrap
wrap: {bin: bin/notes}
commands:
  add:
    summary: Add a note
    cli: [notes, add, "--text={{text}}", "--tag={{tag}}", "--count={{count}}", "--flag={{flag}}"]
    args:
      text: {type: string}
      tag: {type: string}
      count: {type: integer}
      flag: {type: boolean}
      more: {type: array, items: {type: string}}
  loose:
    summary: Whatever comes
    cli: [notes, loose, "--text={{text}}"]
policy:
  add: {operation: read}
  loose: {operation: read}
"""


def nothing(name: str) -> str:
    raise FileNotFoundError(2, "No such file or directory", name)


@pytest.fixture
def notes(hcpx: Hcpx, store: Path, tmp_path: Path) -> Path:
    (tmp_path / "notes" / "bin").mkdir(parents=True)
    (tmp_path / "notes" / "pack.yaml").write_text(NOTES)
    (tmp_path / "notes" / "bin" / "notes").write_text(PROBE)
    (tmp_path / "notes" / "bin" / "notes").chmod(0o755)
    assert hcpx("pack", "add", str(tmp_path / "notes")).status == 0
    assert hcpx("activate", "notes").status == 0
    return store


def argv(hcpx: Hcpx, *words: str) -> list[str]:
    document = hcpx("exec", "notes", *words).document()
    assert document["ok"], document
    return document["result"]["argv"]


def test_a_value_keeps_every_equals_sign(hcpx: Hcpx, notes: Path) -> None:
    found = argv(hcpx, "add", "--json", "--", "text=a=b==", "tag=cGxvcA==")
    assert found == ["add", "--text=a=b==", "--tag=cGxvcA==", "--json"]


def test_values_are_typed_by_the_schema(hcpx: Hcpx, notes: Path) -> None:
    found = argv(hcpx, "add", "--json", "--", "text=7", "count=9007199254740993", "flag=true")
    assert found == ["add", "--text=7", "--count=9007199254740993", "--flag=true", "--json"]
    assert argv(hcpx, "loose", "--json", "--", "text=true") == ["loose", "--text=true", "--json"]
    wrong = hcpx("exec", "notes", "add", "--json", "--", "count=x")
    assert (wrong.status, wrong.document()["code"]) == (2, "usage")


def test_files_and_stdin_are_values(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("from a file")
    said = run(notes, "exec", "notes", "add", "--json", "--", f"text=@{tmp_path / 'text'}", "count:=@-", stdin=b"12")
    assert said.document()["result"]["argv"] == ["add", "--text=from a file", "--count=12", "--json"]


def test_an_envelope_comes_from_stdin_as_it_is(notes: Path) -> None:
    envelope = {"pack_id": "notes", "verb_key": "add", "args": {"text": "x"}, "request_id": "r-1"}
    said = run(notes, "exec", "-", "--json", stdin=json.dumps(envelope).encode())
    assert (said.status, said.document()["request_id"]) == (0, "r-1")
    for data in (b"", b"{", b'{"pack_id":1}', b"\xff", b'{"pack_id":"notes","pack_id":"notes"}'):
        bad = run(notes, "exec", "-", "--json", stdin=data)
        assert (bad.status, bad.document()["code"]) == (64, "invalid_envelope")


def test_args_as_json_and_as_pairs_do_not_meet_twice(hcpx: Hcpx, notes: Path) -> None:
    found = argv(hcpx, "add", "--json", "--args-json", '{"text": "x"}', "--", "tag=y")
    assert found == ["add", "--text=x", "--tag=y", "--json"]
    twice = hcpx("exec", "notes", "add", "--json", "--args-json", '{"text": "x"}', "--", "text=y")
    assert twice.document()["error"] == "text given twice: in --args-json and behind --"


def test_only_the_word_true_confirms(hcpx: Hcpx, store: Path) -> None:
    for word in ("confirm=True", "confirm=yes", "confirm=1", 'confirm:="true"', "confirm=false"):
        said = hcpx("exec", "transit", "book", "--json", "--", "option=opt-1", word)
        assert (said.status, said.document()["code"]) == (75, "confirm_required")


def test_mock_answers_with_the_fixture_and_starts_nothing(hcpx: Hcpx, store: Path) -> None:
    said = hcpx("exec", "ledger", "transfer", "--mock", "--json", "--", "amount=1.00", "payee=x", "confirm=true")
    assert said.document()["result"]["id"] == "mock-1"
    assert hcpx("audit", "list", "--json").document()["calls"][0]["decision"] == "mock"
    twice = hcpx("exec", "ledger", "transfer", "--mock", "--json", "--", "mode=mock")
    assert twice.document()["code"] == "usage"


def test_explain_tells_each_step_and_the_exact_argv_and_runs_nothing(hcpx: Hcpx, store: Path) -> None:
    words = ("exec", "ledger", "transfer", "--explain", "--json", "--", "amount=2.80", "payee=x")
    said = hcpx(*words)
    document = said.document()
    assert (said.status, document["ok"]) == (75, False)
    assert [(one["step"], one.get("code")) for one in document["steps"]] == [
        (1, None),
        (2, None),
        (3, None),
        (4, "confirm_required"),
        (5, "binding_missing"),
        (6, None),
    ]
    assert document["argv"] == ["transfer", "2.80", "--to", "x", "--confirm", "--json"]
    assert hcpx("audit", "list", "--json").document()["calls"] == []
    people = hcpx(*[word for word in words if word != "--json"])
    assert people.status == 75
    assert "4 confirm       confirm_required: confirm required" in people.out


def test_an_idempotency_key_makes_a_write_happen_once(hcpx: Hcpx, store: Path) -> None:
    hcpx("exec", "transit", "plan", "--", "from=A", "to=B")
    words = (
        "exec",
        "transit",
        "book",
        "--json",
        "--idempotency-key",
        "k-1",
        "--",
        "option=opt-1",
        "confirm=true",
    )
    first, again = hcpx(*words).document(), hcpx(*words).document()
    assert (first["result"]["bookingId"], again["result"]["bookingId"]) == ("bk-1", "bk-1")
    assert again["warnings"][0].startswith("replayed")


def test_native_local_is_the_owners_alone(hcpx: Hcpx, store: Path, token: str) -> None:
    said = hcpx("exec", "transit", "stops", "--native-local", "--json", session=token)
    assert (said.status, said.document()["code"]) == (77, "owner_required")
    assert hcpx("exec", "transit", "stops", "--native-local", "--json").status == 0


def test_waiting_for_an_approval_that_is_never_given_ends_with_the_denial(hcpx: Hcpx, store: Path) -> None:
    hcpx("policy", "tighten", "transit.cancel", "--approvals", "1")
    said = hcpx("exec", "transit", "cancel", "--wait-approval", "1s", "--json", "--", "booking=bk-1", "confirm=true")
    assert (said.status, said.document()["code"]) == (75, "approval_required")


@pytest.mark.parametrize(("text", "found"), [("90s", 90), ("5m", 300), ("8h", 28800), ("2d", 172800), ("7", 7)])
def test_times_are_read(text: str, found: float) -> None:
    assert seconds(text) == found


@pytest.mark.parametrize("text", ["", "s", "-5s", "0", "0m", "1.5h", "5 m", "9999999999s", "٣s", "1w"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        seconds(text)


@given(st.dictionaries(st.text(min_size=1).filter(lambda name: "=" not in name and not name.endswith(":")), st.text()))
def test_any_text_goes_through_a_pair_unchanged(values: dict[str, str]) -> None:
    given_values = {
        name: value for name, value in values.items() if not value.startswith("@") and name not in ("confirm", "apply")
    }
    words = tuple(f"{name}={value}" for name, value in given_values.items())
    assert read_pairs(words, dict.fromkeys(given_values, True), nothing) == given_values


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda below: st.lists(below) | st.dictionaries(st.text("abc"), below),
    max_leaves=8,
)


@given(json_values)
def test_any_json_goes_through_a_typed_pair_unchanged(value: Any) -> None:
    text = json.dumps(value)
    if not text.startswith("@"):
        assert read_pairs((f"x:={text}",), None, nothing) == {"x": value}


@given(st.lists(st.text(max_size=12) | st.sampled_from(["--", "--json", "--session", "-h", "-", "--args-json=x"])))
def test_the_line_is_read_or_refused_with_words(words: list[str]) -> None:
    def answer() -> object:
        try:
            return read_line(words)
        except UsageError as wrong:
            return str(wrong)

    assert answer()

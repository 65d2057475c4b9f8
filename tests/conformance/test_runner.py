"""The conformance runner: what is wrong is told, and nothing passes unseen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hcpx.conformance.main import run
from tests.architecture.sources import ROOT

PACK: dict[str, Any] = {
    "hcp": 1,
    "id": "tool",
    "version": "1.0.0",
    "title": "A tool",
    "kind": "wrap",
    "wrap": {"bin": "bin/probe"},
    "commands": {
        "see": {"summary": "s", "cli": ["tool", "argv", "{{a}}"]},
        "raw": {"summary": "s", "cli": ["tool", "raw", "{{text}}"], "json_flag": None},
        "wire": {"summary": "s", "cli": ["tool", "argv", "wire"]},
    },
    "policy": {
        "see": {"operation": "read"},
        "raw": {"operation": "read"},
        "wire": {"operation": "write", "confirm": True, "approvals": 1},
    },
}
WORLD: dict[str, Any] = {
    "tenant": "acme",
    "principal": "user:ada",
    "activated": ["tool"],
    "grants": [
        {"capability": "verb.exec.read", "pack_id": "*", "verb_keys": ["*"]},
        {"capability": "verb.exec.write", "pack_id": "*", "verb_keys": ["*"]},
    ],
}
SEE: dict[str, Any] = {"pack_id": "tool", "verb_key": "see", "args": {"a": "x"}}
WIRE: dict[str, Any] = {"pack_id": "tool", "verb_key": "wire", "args": {"confirm": True}}


def chapter(*cases: Any, **more: Any) -> dict[str, Any]:
    return {"packs": {"tool": PACK}, "world": WORLD, "cases": list(cases), **more}


def corpus(folder: Path, **chapters: Any) -> str:
    """Write a corpus of these files and return its folder."""
    (folder / "cases").mkdir()
    shutil.copytree(ROOT / "conformance" / "bin", folder / "bin")
    for name, body in chapters.items():
        (folder / "cases" / f"{name}.yaml").write_text(json.dumps(body))
    return str(folder)


def told(
    folder: Path, capsys: pytest.CaptureFixture[str], *cases: Any, faces: str = "sdk", **more: Any
) -> tuple[int, str, dict[str, list[str]]]:
    """Run these cases: the exit status, the closing line, and what was found wrong with each that failed."""
    status = run(corpus(folder, only=chapter(*cases, **more)), faces, as_json=True)
    body = json.loads(capsys.readouterr().out)
    wrong = {one["name"]: list(one["faults"]) for one in body["cases"] if one["verdict"] == "failed"}
    return status, body["summary"], wrong


def case(expect: Any, **more: Any) -> dict[str, Any]:
    return {"name": "it", "envelope": SEE, "expect": expect, **more}


def test_what_is_right_passes_and_the_last_line_counts_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = corpus(tmp_path, one=chapter(case({"ok": True}), case({"result": {"argv": ["x", "--json"]}})))
    assert run(folder, "sdk,cli", as_json=False) == 0
    assert capsys.readouterr().out == "4 passed, 0 failed\n"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"ok": False}, "ok is True, wanted False"),
    ({"ok": 1}, "ok is True, wanted 1"),
    ({"exit_code": False}, "exit_code is 0, wanted False"),
    ({"exit_code": 0.0}, "exit_code is 0, wanted 0.0"),
    ({"error": "x"}, "error is absent, wanted 'x'"),
    ({"code": None}, "code is absent, wanted None"),
    ({"result": {"argv": ["x"]}}, "result is {'argv': ['x', '--json']}, wanted {'argv': ['x']}"),
    ({"result": {"argv": ["x", "--json"], "more": 1}}, "wanted {'argv': ['x', '--json'], 'more': 1}"),
    ({"result_has": {"argv": ["y", "--json"]}}, "result.argv is ['x', '--json'], wanted ['y', '--json']"),
    ({"result_has": {"more": 1}}, "result.more is absent, wanted 1"),
    ({"absent": ["stdout"]}, "stdout is there: "),
    ({"not_anywhere": "--json"}, "'--json' is in the result"),
    ({"not_anywhere": "user:ada"}, "'user:ada' is in the audit"),
    ({"audit": {"decision": "denied"}}, "audit.decision is 'allowed', wanted 'denied'"),
    ({"audit": {"nothing": 1}}, "audit.nothing is absent, wanted 1"),
    ({"ran": False}, "a program was started"),
    ({"warnings_has": "x"}, "no warning contains 'x'"),
    ({"stdout_bytes": 3}, "stdout has 25 bytes, wanted 3"),
    ({"files": []}, "the project holds ['marker'], wanted []"),
    ({"outside_unchanged": False}, "the folder outside did not change"),
    ({"error_starts": "x"}, "wanted it to begin with 'x'"),
    ({"wanted": 1}, "unknown expectation wanted"),
]


def test_a_wrong_expectation_fails_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case(expect) | {"name": json.dumps(expect)} for expect, _ in WRONG]
    status, line, wrong = told(tmp_path, capsys, *cases)
    assert (status, line) == (1, f"0 passed, {len(WRONG)} failed")
    missed = {name: wrong[name] for (_, fault), name in zip(WRONG, wrong, strict=True) if fault not in wrong[name][0]}
    assert (missed, {len(found) for found in wrong.values()}) == ({}, {1})


def test_the_exit_status_is_the_command_lines_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, line, wrong = told(tmp_path, capsys, case({"cli_exit": 3}), faces="sdk,cli")
    assert (status, line, wrong) == (1, "1 passed, 1 failed", {"it": ["the exit status is 0, wanted 3"]})


def test_a_float_is_no_integer_and_neither_is_a_boolean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = {"pack_id": "tool", "verb_key": "raw", "args": {"text": '{"a": 1, "b": [1.0, true, null]}'}}
    right = {"a": 1, "b": [1.0, True, None]}
    wrong = [
        {"a": 1.0, "b": [1.0, True, None]},
        {"a": 1, "b": [1, True, None]},
        {"a": 1, "b": [1.0, 1, None]},
        {"a": 1, "b": [1.0, True, False]},
    ]
    cases = [{"name": str(n), "envelope": printed, "expect": {"result": one}} for n, one in enumerate([right, *wrong])]
    _, line, _ = told(tmp_path, capsys, *cases)
    assert line == "1 passed, 4 failed"


def unread(**body: Any) -> dict[str, Any]:
    return {"envelope": SEE, "expect": {"ok": True}, **body}


def decided(**then: Any) -> dict[str, Any]:
    return {"steps": [{"envelope": WIRE, "expect": {"ok": False}, "then": then}]}


UNREAD: list[tuple[dict[str, Any], str]] = [
    (unread(worlds={}), "unknown case key worlds"),
    (unread(world={"grant": []}), "unknown world key grant"),
    (unread(world=[]), "world is a mapping"),
    (unread(session="dead"), "session is one of"),
    (unread(needs="root"), "needs is sandbox or absent"),
    (unread(expect=[{"ok": False}]), "expect is a mapping"),
    (unread(expect={}), "nothing is expected"),
    ({"envelope": SEE}, "nothing is expected"),
    ({"steps": [], "expect": {"ok": True}}, "beside steps"),
    ({"steps": []}, "nothing is expected"),
    ({"steps": {"envelope": SEE}}, "steps is a list"),
    ({"steps": ["x"]}, "step is a mapping"),
    ({"expect": {"ok": True}}, "exactly one of envelope and envelope_text"),
    (unread(envelope_text="{}"), "exactly one of envelope and envelope_text"),
    ({"steps": [{"envelope": SEE, "expects": {"ok": False}}]}, "unknown step key expects"),
    (decided(aprove={}), "unknown decision aprove"),
    (decided(approve={}), "approve says as whom"),
    (decided(approve={"by": "x"}), "unknown key of approve by"),
    (unread(world={"activated": ["nope"]}), "cannot be run: "),
    (unread(world={"allow": ["no-such-program"]}), "cannot be run: "),
]


def test_a_case_that_cannot_be_read_fails_and_no_other_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [{"name": str(place), **body} for place, (body, _) in enumerate(UNREAD)]
    status, line, wrong = told(tmp_path, capsys, *cases, "no case", case({"ok": True}) | {"name": "the good one"})
    assert (status, line) == (1, f"1 passed, {len(UNREAD) + 1} failed")
    found = {place: faults for place, faults in wrong.items() if place != "None"}
    assert {place: faults for place, faults in found.items() if UNREAD[int(place)][1] not in faults[0]} == {}


def test_packs_that_cannot_be_installed_fail_the_cases_of_their_file_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {**PACK, "policy": {}}
    folder = corpus(tmp_path, bad=chapter(case({"ok": True}), packs={"tool": bad}), good=chapter(case({"ok": True})))
    assert run(folder, "sdk", as_json=False) == 1
    out = capsys.readouterr().out
    assert out.startswith("failed: bad.yaml: it [sdk]\n    pack tool: ")
    assert out.endswith("\n1 passed, 1 failed\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cases: {", "expected"),
        ("cases: []\ncases: []\n", "duplicate"),
        ("steps: []\n", "a chapter has packs, world and cases"),
        ("- 1\n", "a chapter has packs, world and cases"),
        ("packs: {}\n", "cases is a list"),
        ("cases: []\nworld: 5\n", "world is a mapping"),
    ],
    ids=repr,
)
def test_a_file_that_cannot_be_read_stops_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, fault: str
) -> None:
    folder = corpus(tmp_path)
    (tmp_path / "cases" / "odd.yaml").write_text(text)
    assert run(folder, "sdk", as_json=False) == 2
    err = capsys.readouterr().err
    assert "odd.yaml" in err
    assert fault in err


def test_a_folder_that_is_no_corpus_stops_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "nowhere"), "sdk", as_json=False) == 2
    assert run(str(tmp_path), "sdk", as_json=True) == 2
    assert run(str(tmp_path), "http", as_json=False) == 2
    assert run(str(tmp_path), "", as_json=False) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_cases_alone_do_where_the_programs_lie_beside_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = corpus(tmp_path, one=chapter(case({"ok": True})))
    assert run(f"{folder}/cases", "sdk", as_json=False) == 0
    assert run(f"{folder}/cases/", "sdk", as_json=False) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n" * 2


@pytest.mark.parametrize(("refused", "passes"), [(False, True), (True, False), (None, True)], ids=str)
def test_a_decision_that_goes_otherwise_than_the_case_says_fails_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], refused: bool | None, passes: bool
) -> None:
    approve: dict[str, Any] = {"as": "user:grace"} if refused is None else {"as": "user:grace", "refused": refused}
    steps = [{"envelope": WIRE, "expect": {"code": "approval_required"}, "then": {"approve": approve}}]
    one = {"name": "it", "world": {"approvers": ["user:grace"]}, "steps": steps}
    status, _, wrong = told(tmp_path, capsys, one)
    assert (status == 0, wrong) == (passes, {} if passes else {"it": ["the decision was taken"]})


def test_a_decision_on_a_call_that_asked_for_none_fails_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [{"envelope": SEE, "expect": {"ok": True}, "then": {"approve": {"as": "user:grace"}}}]
    _, _, wrong = told(tmp_path, capsys, {"name": "it", "steps": steps})
    assert wrong == {"it": ["there is no approval to decide on"]}


def test_each_case_meets_a_fresh_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = {"name": "first", "envelope": WIRE, "expect": {"code": "approval_required"}, "world": {"grants": []}}
    status, line, wrong = told(tmp_path, capsys, first, case({"ok": True}))
    assert (status, line, list(wrong)) == (1, "1 passed, 1 failed", ["first"])

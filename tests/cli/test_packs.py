"""Packs on the command line: shipped by name, linked, new ones around a program, and what lint says of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Hcpx
from tests.cli.shell import run

TOOL = """#!/bin/sh
case "$1" in
--help)
    echo "usage: tool COMMAND"
    echo
    echo "commands:"
    echo "  list      show what there is"
    echo "  remove    take one out"
    ;;
remove)
    [ "$2" = --help ] || exit 3
    echo "usage: tool remove NAME"
    ;;
*)
    env >>"$PLACE"
    exit 2
    ;;
esac
"""


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    program = tmp_path / "bin" / "tool"
    program.parent.mkdir()
    program.write_text(TOOL)
    program.chmod(0o755)
    return program


def test_a_shipped_pack_is_added_by_its_name(hcpx: Hcpx, home: Path) -> None:
    said = hcpx("pack", "add", "sqlite")
    assert (said.status, said.err) == (0, "")
    assert said.out == "sqlite 1.0.0 is installed; next: hcpx activate sqlite\n"
    (listed,) = hcpx("pack", "list", "--json").document()["packs"]
    assert (listed["id"], listed["activated"], listed["version"]) == ("sqlite", False, "1.0.0")
    assert hcpx("activate", "sqlite").status == 0
    shown = hcpx("pack", "show", "sqlite", "--json").document()
    assert (shown["activated"], shown["linked"]) == (True, False)
    assert hcpx("deactivate", "sqlite").status == 0
    assert hcpx("pack", "show", "sqlite", "--json").document()["activated"] is False


def test_a_name_that_no_shipped_pack_has_is_answered_with_those_that_there_are(hcpx: Hcpx, home: Path) -> None:
    said = hcpx("pack", "add", "ledgr")
    assert (said.status, said.err) == (
        66, "hcpx: no folder or archive at ledgr\nhint: with hcpx come: git, jq, ledger, sqlite, transit\n",
    )  # fmt: skip
    assert hcpx("pack", "add", "ledger").status == 0
    assert hcpx("activate", "transit").err == "hcpx: no pack transit is installed; run: hcpx pack add transit\n"
    assert hcpx("activate", "other").err == "hcpx: no pack other is installed; run: hcpx pack add PATH\n"


def test_one_command_is_shown_with_its_args_and_the_line_that_calls_it(hcpx: Hcpx, store: Path) -> None:
    said = hcpx("pack", "show", "transit", "book")
    assert said.status == 0
    head, table = said.out.split("arg ", 1)
    assert head.splitlines()[-2:] == ["write, confirm", "hcpx exec transit book -- option=... confirm=true"]
    assert [line.split()[:3] for line in table.splitlines()[1:]] == [
        ["option", "string", "yes"],
        ["name", "string", "Whom"],
    ]
    shown = hcpx("pack", "show", "transit", "book", "--json").document()
    assert (shown["verb_key"], shown["operation"], shown["args_schema"]["required"]) == ("book", "write", ["option"])
    assert hcpx("pack", "show", "transit", "bok").err == "hcpx: no policy for bok\nhint: hcpx pack show transit book\n"
    assert "hcpx exec transit stops\n" in hcpx("pack", "show", "transit", "stops").out


def test_a_new_pack_beside_the_program_says_how_to_choose_another_place(
    hcpx: Hcpx, tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tool.parent)
    said = hcpx("pack", "new", "./tool")
    assert (said.status, said.err) == (73, "hcpx: tool is there already\nhint: choose another place: --dir DIR\n")


@pytest.mark.parametrize("name", ["../packs/ledger", ".", "ledger/", "", "LEDGER"])
def test_only_the_exact_name_is_a_shipped_pack(
    name: str, hcpx: Hcpx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert hcpx("pack", "add", name, "--json").document()["code"] in {"not_found", "lint_failed"}


def test_activation_goes_to_the_session_that_is_named(hcpx: Hcpx, store: Path) -> None:
    made = hcpx("session", "new", "--pack", "transit", "--json").document()
    assert hcpx("pack", "add", "sqlite").status == 0
    assert hcpx("activate", "sqlite", "--on", made["id"], "--json").document()["pack_id"] == "sqlite"
    assert set(hcpx("session", "show", made["id"], "--json").document()["activations"]) == {
        "sqlite",
        "transit",
    }
    assert hcpx("exec", "sqlite", "tables", "--json").document()["code"] == "pack_not_activated"


def test_a_new_pack_from_help_runs_the_program_for_its_help_alone(
    hcpx: Hcpx, home: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "ran"
    monkeypatch.setenv("PLACE", str(place))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    folder = tmp_path / "pack"
    said = hcpx("pack", "new", str(tool), "--from-help", "--dir", str(folder))
    assert (said.status, said.err) == (0, "")
    assert said.out == (
        f"wrote {folder}: pack.yaml SKILL.md\n"
        f"next: cp {tool} {folder}/, so that the program is the pack's own\n"
        f"next: hcpx pack lint {folder}\n"
    )
    manifest = (folder / "pack.yaml").read_text()
    assert "  list: {operation: read}\n" in manifest
    assert "  remove: {operation: write, confirm: true}\n" in manifest
    assert hcpx("pack", "lint", str(folder), "--json").document()["ok"] is True
    assert not place.exists()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not home.exists()


def test_deep_asks_each_command_for_its_help_in_a_clean_environment(
    hcpx: Hcpx, home: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", str(tmp_path / "ran"))
    folder = tmp_path / "pack"
    assert hcpx("pack", "new", str(tool), "--from-help", "--deep", "--dir", str(folder)).status == 0
    assert 'cli: ["tool", "remove", "{{name}}"]' in (folder / "pack.yaml").read_text()
    # PLACE was not handed on, so the command without help of its own had nowhere to write to.
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_is_there_is_never_written_over(hcpx: Hcpx, home: Path, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "mine.txt").write_text("mine")
    said = hcpx("pack", "new", "true", "--dir", str(tmp_path / "pack"), "--json")
    assert (said.status, said.document()["code"]) == (73, "exists")
    assert [path.name for path in (tmp_path / "pack").iterdir()] == ["mine.txt"]


def test_a_pack_that_cannot_be_written_says_why(hcpx: Hcpx, home: Path) -> None:
    said = hcpx("pack", "new", "true", "--dir", "/proc/nowhere/pack", "--json")
    assert (said.status, said.document()["code"]) == (70, "store_unavailable")


def test_lint_names_place_and_mend_for_people_and_programs(hcpx: Hcpx, tmp_path: Path, home: Path) -> None:
    (tmp_path / "pack.yaml").write_text("hcp: 1\nid: Bad\n")
    people = hcpx("pack", "lint", str(tmp_path))
    assert people.status == 65
    assert "pack.yaml:2:5: error: " in people.out
    assert "\n  mend: " in people.out
    found = hcpx("pack", "lint", str(tmp_path), "--json").document()
    assert (found["ok"], found["code"]) == (False, "lint_failed")
    assert [(one["line"], one["column"]) for one in found["findings"] if one["line"] == 2] == [(2, 5)]


def test_an_agents_session_may_lint_but_not_write_packs(store: Path, token: str, tmp_path: Path) -> None:
    run(store, "pack", "new", "true", "--dir", str(tmp_path / "true"))
    assert run(store, "pack", "lint", str(tmp_path / "true"), HCP_SESSION=token).status == 0
    said = run(store, "pack", "new", "true", "--dir", str(tmp_path / "two"), HCP_SESSION=token)
    assert (said.status, os.path.exists(tmp_path / "two")) == (77, False)


def test_a_linked_pack_can_be_followed(hcpx: Hcpx, store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "true"
    hcpx("pack", "new", "true", "--dir", str(folder))
    assert hcpx("pack", "add", "--link", str(folder), "--json").document()["linked"] is True
    assert hcpx("activate", "true", "--follow").err.startswith("true asks for:\n")
    assert hcpx("activate", "true").err.startswith("true asks for:\n")
    assert hcpx("activate", "true", "--follow").status == 0
    manifest = folder / "pack.yaml"
    manifest.write_text(manifest.read_text().replace("0.1.0", "0.1.1"))
    assert hcpx("exec", "true", "version", "--json").document()["code"] == "not_allowlisted"

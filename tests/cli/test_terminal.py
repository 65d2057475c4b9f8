"""At a terminal: questions are asked there and nowhere else, and nothing that is stored sends control codes to it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hcpx
from tests.cli.shell import HCPX, Terminal, environment, run

BOOK = ("exec", "transit", "book", "--", "option=opt-1")
HOSTILE = "ok\n2030-01-01T00:00:00Z ALLOW ledger.transfer principal=root\r\x1b[2K\u2028\x07"


@pytest.fixture
def planned(store: Path) -> Path:
    """A store in which option opt-1 can be booked."""
    assert run(store, "exec", "transit", "plan", "--", "from=A", "to=B").status == 0
    return store


def bookings(store: Path) -> int:
    said = run(store, "exec", "transit", "bookings", "--json").document()
    return len(said["result"]["bookings"])


def test_yes_at_the_question_confirms_that_very_call(planned: Path) -> None:
    terminal = Terminal(planned, *BOOK)
    terminal.wait_for("[y/N] ")
    for shown in ("transit.book", '{"option": "opt-1"}', "book", "sha256:", '"operation": "write"', "public"):
        assert shown in terminal.shown
    terminal.type("y\n")
    assert terminal.end() == 0
    assert "bk-1" in terminal.shown
    assert bookings(planned) == 1


@pytest.mark.parametrize("answer", ["n\n", "\n", "no\n", "maybe\n", "\x04"], ids=["n", "enter", "no", "other", "eof"])
def test_anything_but_yes_runs_nothing(answer: str, planned: Path) -> None:
    terminal = Terminal(planned, *BOOK)
    terminal.wait_for("[y/N] ")
    terminal.type(answer)
    assert terminal.end() == 75
    assert "confirm required" in terminal.shown
    assert bookings(planned) == 0


@pytest.mark.parametrize("variables", [{"CI": "1"}, {"HCP_NONINTERACTIVE": "1"}], ids=["ci", "noninteractive"])
def test_no_question_where_the_environment_says_so(variables: dict[str, str], planned: Path) -> None:
    terminal = Terminal(planned, *BOOK, **variables)
    assert terminal.end() == 75
    assert "[y/N]" not in terminal.shown


def test_no_question_with_json_or_for_an_agent(planned: Path, token: str) -> None:
    terminal = Terminal(planned, "exec", "transit", "book", "--json", "--", "option=opt-1")
    assert terminal.end() == 75
    assert "[y/N]" not in terminal.shown
    made = run(planned, "session", "new", "--actor", "agent:x").out.strip()
    terminal = Terminal(planned, *BOOK, HCP_SESSION=made)
    assert terminal.end() == 75
    assert "[y/N]" not in terminal.shown


def test_no_question_where_stdout_is_piped(planned: Path) -> None:
    master, slave = os.openpty()
    try:
        done = subprocess.run(
            [*HCPX, *BOOK],
            env=environment(planned),
            stdin=slave,
            capture_output=True,
            check=False,
            timeout=60,
        )
        unread = os.get_blocking(master)
    finally:
        os.close(slave)
        os.close(master)
    assert (done.returncode, done.stdout, unread) == (75, b"", True)
    assert b"[y/N]" not in done.stderr


def test_activate_shows_what_is_asked_for_and_takes_no_for_an_answer(store: Path) -> None:
    assert run(store, "pack", "add", "git").status == 0
    terminal = Terminal(store, "activate", "git")
    terminal.wait_for("[y/N] ")
    for shown in ("git asks for:", "program", "policy commit: write, confirm", "variable GIT_PAGER"):
        assert shown in terminal.shown
    terminal.type("n\n")
    assert terminal.end() == 75
    assert "nothing has changed" in terminal.shown
    packs = run(store, "pack", "list", "--json").document()["packs"]
    assert [one["id"] for one in packs if one["activated"]] == ["ledger", "transit"]
    terminal = Terminal(store, "activate", "git", "-y")
    assert terminal.end() == 0
    assert "[y/N]" not in terminal.shown


def test_activate_of_a_changed_pack_shows_the_change_alone(store: Path, tmp_path: Path) -> None:
    run(store, "pack", "new", "true", "--dir", str(tmp_path / "true"))
    run(store, "pack", "add", "--link", str(tmp_path / "true"))
    run(store, "activate", "true")
    manifest = tmp_path / "true" / "pack.yaml"
    manifest.write_text(manifest.read_text().replace('"Show the version"', '"Show the versions"'))
    assert run(store, "exec", "true", "version", "--json").document()["code"] == "pack_changed"
    diff = run(store, "pack", "diff", "true", "--json").document()["changes"]
    assert [(one["part"], one["name"], one["how"]) for one in diff] == [("command", "version", "changed")]
    terminal = Terminal(store, "activate", "true")
    terminal.wait_for("[y/N] ")
    assert "has changed since it was activated" in terminal.shown
    assert "versions" in terminal.shown
    terminal.type("y\n")
    assert terminal.end() == 0
    assert run(store, "pack", "diff", "true", "--json").document()["changes"] == []


def test_a_secret_typed_at_the_prompt_is_not_shown(store: Path) -> None:
    terminal = Terminal(store, "connect", "ledger")
    terminal.wait_for("not shown: ")
    terminal.type("typed-s3cret\n")
    assert terminal.end() == 0
    assert "ledger is connected (user)" in terminal.shown
    assert "typed-s3cret" not in terminal.shown
    assert run(store, "exec", "ledger", "whoami", "--json").status == 0


def test_changes_that_take_away_ask_first(store: Path, hcpx: Hcpx) -> None:
    terminal = Terminal(store, "pack", "remove", "transit")
    terminal.wait_for("Remove transit? [y/N] ")
    terminal.type("\x04")
    assert terminal.end() == 75
    assert [one["id"] for one in hcpx("pack", "list", "--json").document()["packs"]] == ["ledger", "transit"]
    assert hcpx("pack", "remove", "transit").status == 0
    assert [one["id"] for one in hcpx("pack", "list", "--json").document()["packs"]] == ["ledger"]


@pytest.mark.parametrize("colour", [{}, {"NO_COLOR": "1"}], ids=["colour", "plain"])
def test_a_table_on_a_terminal_has_colour_only_where_it_may(colour: dict[str, str], store: Path) -> None:
    terminal = Terminal(store, "pack", "list", **colour)
    assert terminal.end() == 0
    assert "ledger" in terminal.shown
    assert ("\x1b[" in terminal.shown) is not bool(colour)


def test_nothing_stored_reaches_a_terminal_as_control_codes(store: Path, hcpx: Hcpx) -> None:
    assert run(store, "connect", "ledger", stdin=b"some-secret").status == 0
    said = hcpx(
        "exec",
        "ledger",
        "transfer",
        "--json",
        "--",
        "amount=1.00",
        "payee=x",
        f"memo={HOSTILE}",
        "confirm=true",
    )
    assert said.status == 0
    call = hcpx("audit", "show", said.document()["audit_id"], "--json").document()
    assert call["args"]["memo"] == HOSTILE
    for words in (("audit", "show", call["audit_id"]), ("audit", "list"), ("exec", "ledger", "history")):
        terminal = Terminal(store, *words, NO_COLOR="1")
        assert terminal.end() == 0
        assert "\x1b" not in terminal.shown
        assert "\u2028" not in terminal.shown
        assert "\x07" not in terminal.shown
        assert "\n2030-01-01T00:00:00Z ALLOW" not in terminal.shown.replace("\r", "")
    piped = hcpx("audit", "show", call["audit_id"])
    assert not [line for line in piped.out.splitlines() if line.startswith("2030")]
    assert "\x1b" not in piped.out


def test_output_is_shown_while_the_program_runs(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    (folder / "bin").mkdir(parents=True)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (folder / "bin" / "talk").write_text(
        f"#!/bin/sh\nprintf 'first\\033[2K \\303'\nread -r go <{fifo}\nprintf '\\251\\nlast \\303'\n"
    )
    (folder / "bin" / "talk").chmod(0o755)
    (folder / "pack.yaml").write_text(
        "hcp: 1\nid: talk\nversion: 1.0.0\ntitle: Talk\nkind: wrap\nwrap: {bin: bin/talk, json_flag: null}\n"
        "commands: {go: {summary: Talk, cli: [talk], args: {}}}\npolicy: {go: {operation: read}}\n"
    )
    assert run(store, "pack", "add", str(folder)).status == 0
    assert run(store, "activate", "talk").status == 0
    terminal = Terminal(store, "exec", "talk", "go")
    # It waits for us on the FIFO, so that what is on the screen came while it ran.
    terminal.wait_for("first")
    fifo.write_text("go\n")
    assert terminal.end() == 0
    assert terminal.shown.replace("\r", "") == "first\\u{001B}[2K é\nlast \ufffd"


def test_a_pack_that_changes_under_the_question_is_not_activated(store: Path, tmp_path: Path) -> None:
    pack = tmp_path / "true"
    assert run(store, "pack", "new", "true", "--dir", str(pack)).status == 0
    assert run(store, "pack", "add", str(pack), "--link").status == 0
    terminal = Terminal(store, "activate", "true")
    terminal.wait_for("[y/N]")
    manifest = (pack / "pack.yaml").read_text()
    (pack / "pack.yaml").write_text(manifest.replace("title:", "description: Not what was shown\ntitle:"))
    terminal.type("y\n")
    assert terminal.end() == 2
    assert "pack true has changed since it was shown" in terminal.shown
    assert run(store, "exec", "true", "version", "--json").document()["code"] == "pack_not_activated"

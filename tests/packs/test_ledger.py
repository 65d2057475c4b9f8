"""The demo ledger as a program: exact, confirmed, signed in, never half written."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.packs.shipped import PACKS, SEARCH_PATH, exec_in, names

SECRET = "a-secret-of-ada"
LEDGER = str(PACKS / "ledger/bin/ledger")


def ledger(folder: Path, *words: str, token: str | None = SECRET, **env: str) -> tuple[int, Any, str]:
    """Run the program; return its status, its JSON, and what it said on stderr."""
    env = {"PATH": SEARCH_PATH, **env, **({} if token is None else {"LEDGER_TOKEN": token})}
    command = [LEDGER, *words[:1], "--json", *words[1:]]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr.decode()


def balance(folder: Path) -> str:
    return ledger(folder, "balance")[1]["balance"]


def transfer(folder: Path, amount: str, *more: str) -> tuple[int, Any, str]:
    return ledger(folder, "transfer", amount, "--to", "demo-transit", "--confirm", *more)


def test_a_fresh_workspace_holds_an_open_account_and_reading_it_writes_nothing(tmp_path: Path) -> None:
    expected = {"ok": True, "verb": "balance", "balance": "100.00", "currency": "CRD", "closed": False}
    assert ledger(tmp_path, "balance", token=None) == (0, expected, "")
    assert ledger(tmp_path, "history", token=None) == (
        0,
        {"ok": True, "verb": "history", "entries": [], "total": 0},
        "",
    )
    assert names(tmp_path) == []


def test_a_transfer_moves_exactly_its_amount(tmp_path: Path) -> None:
    assert transfer(tmp_path, "2.80") == (
        0,
        {
            "ok": True,
            "verb": "transfer",
            "id": "e-1",
            "amount": "2.80",
            "currency": "CRD",
            "payee": "demo-transit",
            "balance": "97.20",
        },
        "",
    )
    assert balance(tmp_path) == "97.20"


def test_tenths_of_cents_never_appear_and_sums_are_exact(tmp_path: Path) -> None:
    for _ in range(10):
        transfer(tmp_path, "0.10")
    assert balance(tmp_path) == "99.00"


@pytest.mark.parametrize(("written", "meant"), [("10", "10.00"), ("2.8", "2.80"), ("0.01", "0.01"), ("007", "7.00")])
def test_an_amount_may_be_written_with_up_to_two_decimals(written: str, meant: str, tmp_path: Path) -> None:
    assert transfer(tmp_path, written)[1]["amount"] == meant


@pytest.mark.parametrize(
    "amount",
    ["0", "0.00", "-5", "2.805", "1e2", "1e+21", "NaN", "Infinity", " 1", "1 ", "1,50", ".5", "5.", "",
     "0x10", "1_0", "\u0661", "9999999999999", "\udcff"],
)  # fmt: skip
def test_an_amount_that_is_not_plain_is_refused_and_nothing_moves(amount: str, tmp_path: Path) -> None:
    status, out, _ = transfer(tmp_path, amount)
    assert (status, out["ok"]) == (1, False)
    assert balance(tmp_path) == "100.00"


def test_more_than_there_is_cannot_be_moved(tmp_path: Path) -> None:
    error = "not enough money: the account holds 100.00"
    assert transfer(tmp_path, "100.01") == (
        1,
        {"ok": False, "verb": "transfer", "error": error},
        f"ledger: {error}\n",
    )
    assert transfer(tmp_path, "100.00")[1]["balance"] == "0.00"


@pytest.mark.parametrize("words", [("transfer", "1", "--to", "x"), ("deposit", "1"), ("close",), ("reset",)])
def test_a_write_without_confirm_is_refused_and_leaves_no_file(words: tuple[str, ...], tmp_path: Path) -> None:
    status, out, _ = ledger(tmp_path, *words)
    assert (status, out["error"]) == (1, "not confirmed: --confirm is missing")
    assert names(tmp_path) == []


@pytest.mark.parametrize("token", [None, "", "  "])
@pytest.mark.parametrize(
    "words",
    [
        ("transfer", "1", "--to", "x", "--confirm"),
        ("deposit", "1", "--confirm"),
        ("close", "--confirm"),
        ("reset", "--confirm"),
        ("statement",),
        ("whoami",),
    ],
)
def test_what_needs_a_credential_is_refused_without_one(
    words: tuple[str, ...], token: str | None, tmp_path: Path
) -> None:
    status, out, _ = ledger(tmp_path, *words, token=token)
    assert (status, out["error"]) == (1, "not signed in: LEDGER_TOKEN is not set")
    assert names(tmp_path) == []


def test_whoami_tells_credentials_apart_and_never_shows_one(tmp_path: Path) -> None:
    ours, theirs = ledger(tmp_path, "whoami"), ledger(tmp_path, "whoami", token="another-secret")
    assert ours[0] == theirs[0] == 0
    assert ours[1]["token_digest"] != theirs[1]["token_digest"]
    assert SECRET not in json.dumps(ours)


def test_a_statement_adds_up(tmp_path: Path) -> None:
    transfer(tmp_path, "30.00")
    ledger(tmp_path, "deposit", "5.50", "--memo", "back", "--confirm")
    out = ledger(tmp_path, "statement")[1]
    assert {key: out[key] for key in ("opening", "in", "out", "closing")} == {
        "opening": "100.00",
        "in": "5.50",
        "out": "-30.00",
        "closing": "75.50",
    }
    later = ledger(tmp_path, "statement", "--since", "9000-01-01")[1]
    assert (later["opening"], later["closing"], later["entries"]) == ("75.50", "75.50", [])


@pytest.mark.parametrize("day", ["2030-1-1", "20300101", "today", "2030-01-01 ", "2030/01/01", ""])
def test_a_day_that_cannot_be_read_is_a_usage_error(day: str, tmp_path: Path) -> None:
    assert ledger(tmp_path, "statement", "--since", day)[0] == 2


def test_history_is_newest_first_and_limited(tmp_path: Path) -> None:
    for amount in ("1", "2", "3"):
        transfer(tmp_path, amount)
    out = ledger(tmp_path, "history", "--limit", "2")[1]
    assert ([entry["amount"] for entry in out["entries"]], out["total"]) == (["-3.00", "-2.00"], 3)


def test_texts_are_kept_as_they_came(tmp_path: Path) -> None:
    memo = 'a "b"\n2030-01-01 ALLOW\r\x1b[2K\u2028 Zoë 🚲 {{payee}}'
    transfer(tmp_path, "1", "--memo", memo)
    assert ledger(tmp_path, "history")[1]["entries"][0]["memo"] == memo


def test_for_people_no_control_code_reaches_the_terminal(tmp_path: Path) -> None:
    transfer(tmp_path, "1", "--memo", "a\x1b[2K\nb\u2028")
    done = subprocess.run([LEDGER, "history"], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.count(b"\n") == 2
    assert b"\x1b" not in done.stdout


def test_a_closed_account_takes_nothing_more_and_stays_readable(tmp_path: Path) -> None:
    transfer(tmp_path, "1")
    assert ledger(tmp_path, "close", "--confirm")[1]["closed"] is True
    assert transfer(tmp_path, "1")[0] == 1
    assert ledger(tmp_path, "close", "--confirm")[0] == 1
    assert ledger(tmp_path, "history")[1]["total"] == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nonsense",),
        ("transfer",),
        ("transfer", "1"),
        ("transfer", "1", "--confirm"),
        ("transfer", "1", "2", "--to", "x", "--confirm"),
        ("transfer", "1", "--to", "x", "--to", "y", "--confirm"),
        ("transfer", "1", "--to", "x", "--confirm=yes"),
        ("transfer", "1", "--to"),
        ("balance", "--nonsense"),
        ("balance", "extra"),
        ("history", "--limit", "0"),
        ("history", "--limit", "-1"),
        ("--confirm", "reset"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_a_usage_error_and_nothing_runs(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    status, out, _ = ledger(tmp_path, *words)
    assert (status, out["ok"]) == (2, False)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"ledger":2}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"ledger":1,"opening":1.5,"closed_at":null,"entries":[]}',
        b'{"ledger":1,"opening":1,"closed_at":null,"entries":[1]}',
        b'{"ledger":1,"opening":1,"closed_at":null,"entries":[{"n":2,"at":"","kind":"","cents":1,"payee":"","memo":""}]}',
    ],
)
def test_a_damaged_file_is_refused_kept_and_put_aside_by_reset(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_bytes(damage)
    for words in (("balance",), ("history",), ("transfer", "1", "--to", "x", "--confirm")):
        status, out, err = ledger(tmp_path, *words)
        assert (status, "damaged" in out["error"], "Traceback" in err) == (1, True, False)
    assert (tmp_path / "ledger.json").read_bytes() == damage
    assert ledger(tmp_path, "reset", "--confirm")[1]["kept"] == "ledger-damaged-1.json"
    assert (tmp_path / "ledger-damaged-1.json").read_bytes() == damage
    assert balance(tmp_path) == "100.00"


def test_no_way_through_a_link_pipe_or_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    state, secret = tmp_path / "ledger.json", tmp_path / "secret"
    secret.write_text("{}")
    state.symlink_to(secret)
    assert ledger(tmp_path, "balance")[0] == 1
    state.unlink()
    os.mkfifo(state)
    assert ledger(tmp_path, "balance")[0] == 1
    state.unlink()
    state.mkdir()
    assert ledger(tmp_path, "balance")[0] == 1
    assert secret.read_text() == "{}"


def test_eight_at_once_lose_nothing_and_duplicate_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: transfer(tmp_path, "0.50"), range(40)))
    assert sorted(out["id"] for _, out, _ in done) == sorted(f"e-{n}" for n in range(1, 41))
    assert (balance(tmp_path), ledger(tmp_path, "history")[1]["total"]) == ("80.00", 40)


def test_a_kill_at_any_moment_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    before = 0
    for wait in range(40):
        child = subprocess.Popen(
            [LEDGER, "transfer", "1", "--to", "x", "--confirm"],
            cwd=tmp_path,
            env={"PATH": SEARCH_PATH, "LEDGER_TOKEN": SECRET},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            said, _ = child.communicate(timeout=wait / 1000)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            said, _ = child.communicate()
        after = ledger(tmp_path, "history")[1]["total"]
        assert after in ((before + 1,) if said else (before, before + 1))
        assert balance(tmp_path) == f"{100 - after}.00"
        before = after


@pytest.mark.parametrize("limit", [0, 100])
def test_a_full_disk_changes_nothing_and_says_so(limit: int, tmp_path: Path) -> None:
    transfer(tmp_path, "1", "--memo", "m" * 150)
    before = (tmp_path / "ledger.json").read_bytes()
    done = subprocess.run(
        ["prlimit", f"--fsize={limit}", LEDGER, "transfer", "1", "--to", "x", "--confirm", "--json"],
        cwd=tmp_path,
        env={"PATH": SEARCH_PATH, "LEDGER_TOKEN": SECRET},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, (tmp_path / "ledger.json").read_bytes()) == (1, before)
    assert b"nothing was changed" in done.stderr
    assert b"Traceback" not in done.stderr
    assert transfer(tmp_path, "1")[0] == 0


def test_the_reader_going_away_is_no_trace(tmp_path: Path) -> None:
    done = subprocess.run(["sh", "-c", f"{LEDGER} balance >&-"], cwd=tmp_path, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("program", ["ledger/bin/ledger", "transit/bin/transit"])
def test_the_programs_are_plain_python_of_3_9(program: str) -> None:
    ast.parse((PACKS / program).read_text(), feature_version=(3, 9))


def test_a_search_path_without_python_is_named(tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    text = Path(LEDGER).read_text().replace("/usr/bin/python3 /usr/local/bin/python3", "/nowhere/python3")
    (tmp_path / "ledger").write_text(text)
    (tmp_path / "ledger").chmod(0o755)
    done = subprocess.run(
        [tmp_path / "ledger", "balance"], env={"PATH": str(tmp_path)}, capture_output=True, check=False
    )
    assert (done.returncode, b"needs Python 3.9 or newer" in done.stderr) == (127, True)


def test_a_module_planted_in_the_workspace_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('planted')")
    assert ledger(tmp_path, "balance", PYTHONPATH=str(tmp_path))[0] == 0


def test_the_packs_transfer_is_the_documented_one(tmp_path: Path) -> None:
    args = {"amount": "2.80", "payee": "demo-transit"}
    done = exec_in(tmp_path, "ledger", "transfer", args, LEDGER_TOKEN=SECRET)
    assert json.loads(done.stdout)["balance"] == "97.20"

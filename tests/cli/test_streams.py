"""Closed, full and broken streams, signals: a command ends as a shell expects, and records what it did."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Hcpx
from tests.cli.shell import HCPX, environment, run

# The child says that it runs by opening a FIFO, whose other end the test holds.
WAITING = """#!/bin/sh
sleep 600 &
echo $! >{pids}
echo $$ >>{pids}
echo ready >{fifo}
wait
"""
MANIFEST = """hcp: 1
id: slow
version: 1.0.0
title: Slow
kind: wrap
wrap: {bin: bin/slow, json_flag: null}
commands: {wait: {summary: Wait, cli: [slow], args: {}, mock: {ok: true}}}
policy: {wait: {operation: write, confirm: false}}
"""


def shell(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, with `hcpx` as the program in it."""
    return subprocess.run(
        ["/bin/bash", "-c", line.replace("hcpx", shlex.join(HCPX))],
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("words", ["exec transit stops --json", "audit list --json", "pack list"])
def test_a_closed_stdout_takes_nothing_and_harms_nothing(words: str, store: Path) -> None:
    done = shell(store, f"hcpx {words} >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert run(store, "audit", "verify").status == 0


@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_never_become_the_stores_files(closed: str, store: Path) -> None:
    done = shell(store, f"hcpx exec transit stops {closed}; hcpx nosuch {closed}; hcpx exec nope x {closed}")
    assert "Traceback" not in done.stdout + done.stderr
    assert run(store, "audit", "verify").status == 0
    assert len(run(store, "audit", "list", "--json").document()["calls"]) == 2


def test_a_question_is_never_asked_where_nobody_can_answer(store: Path) -> None:
    for line in (
        "hcpx exec transit book -- option=opt-1 <&-",
        "hcpx exec transit book -- option=opt-1 </dev/null",
    ):
        done = shell(store, line)
        assert (done.returncode, done.stdout) == (75, "")
        assert done.stderr.startswith("confirm_required: confirm required\n")


def test_connect_without_a_secret_ends_at_once(store: Path) -> None:
    for line in ("hcpx connect ledger <&-", "hcpx connect ledger </dev/null"):
        done = shell(store, line)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "hcpx: the secret is empty\n")


@pytest.mark.parametrize("secret", [b"s3cret-of-the-test", b"s3cret-of-the-test\n", b"s3cret-of-the-test\r\n"])
def test_a_secret_from_stdin_is_stored_and_shown_nowhere(secret: bytes, store: Path) -> None:
    said = run(store, "connect", "ledger", "--json", stdin=secret)
    assert (said.status, said.document()["family"]) == (0, "user")
    digests = run(store, "exec", "ledger", "whoami", "--json").document()["result"]["token_digest"]
    again = run(store, "connect", "ledger", stdin=b"s3cret-of-the-test")
    assert run(store, "exec", "ledger", "whoami", "--json").document()["result"]["token_digest"] == digests
    listed = run(store, "bindings", "--json")
    assert "s3cret" not in said.out + again.out + again.err + listed.out
    assert b"s3cret" not in b"".join(path.read_bytes() for path in store.glob("hcpx.db*"))


@pytest.mark.parametrize("secret", [b"", b"\n", b"a\0b", b"\xff\xfe"])
def test_what_is_no_secret_is_refused(secret: bytes, store: Path) -> None:
    said = run(store, "connect", "ledger", "--json", stdin=secret)
    assert (said.status, said.document()["code"]) == (2, "usage")
    assert run(store, "bindings", "--json").document()["bindings"] == []


@pytest.mark.parametrize("words", ["exec transit stops", "audit list", "--help", "schema pack", "pack show ledger"])
def test_a_reader_that_goes_away_ends_the_command_quietly(words: str, store: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*HCPX, *words.split()],
            env=environment(store),
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", ["exec transit stops --json", "exec transit stops", "pack list", "pack list --json"])
def test_a_full_disk_behind_stdout_is_said_on_stderr(words: str, store: Path) -> None:
    done = shell(store, f"hcpx {words} >/dev/full")
    assert done.returncode == 70
    assert "no space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def slow(store: Path, hcpx: Hcpx, tmp_path: Path) -> tuple[Path, Path]:
    """A pack whose command waits; returns a FIFO that opens when it runs, and the file of its processes."""
    fifo, pids = tmp_path / "fifo", tmp_path / "pids"
    os.mkfifo(fifo)
    folder = tmp_path / "slow"
    (folder / "bin").mkdir(parents=True)
    (folder / "pack.yaml").write_text(MANIFEST)
    script = folder / "bin" / "slow"
    script.write_text(WAITING.format(fifo=fifo, pids=pids))
    script.chmod(0o755)
    assert hcpx("pack", "add", str(folder)).status == 0
    assert hcpx("activate", "slow").status == 0
    return fifo, pids


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "term"])
def test_a_signal_ends_the_whole_tree_and_the_end_is_recorded(
    number: signal.Signals, store: Path, slow: tuple[Path, Path]
) -> None:
    fifo, pids = slow
    process = subprocess.Popen(
        [*HCPX, "exec", "slow", "wait", "--json"],
        env=environment(store),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert fifo.read_text() == "ready\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    assert b'"code":"cancelled"' in out
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())
    call = run(store, "audit", "list", "--json").document()["calls"][0]
    assert (call["decision"], call["outcome"], call["code"]) == ("allowed", "cancelled", "cancelled")
    assert run(store, "audit", "verify").status == 0


def test_a_kill_leaves_the_outcome_unknown_and_doctor_says_so(store: Path, slow: tuple[Path, Path]) -> None:
    fifo, pids = slow
    process = subprocess.Popen(
        [*HCPX, "exec", "slow", "wait", "--json"], env=environment(store), stdin=subprocess.DEVNULL
    )
    assert fifo.read_text() == "ready\n"
    running = run(store, "audit", "list", "--json").document()["calls"][0]
    assert running["running"] is True
    process.kill()
    process.wait(60)
    for pid in pids.read_text().split():
        if not is_gone(int(pid)):
            os.kill(int(pid), signal.SIGKILL)
    call = run(store, "audit", "list", "--outcome", "unknown", "--json").document()["calls"][0]
    assert (call["verb_key"], call["outcome"], call["code"]) == ("wait", "unknown", "outcome_unknown")
    doctor = run(store, "doctor", "--json")
    checks = {one["name"]: one["ok"] for one in doctor.document()["checks"]}
    assert (doctor.status, checks["outcomes"], checks["audit"]) == (1, False, True)


def test_ctrl_c_on_a_watch_ends_it_quietly(store: Path) -> None:
    process = subprocess.Popen(
        [*HCPX, "approvals", "watch"],
        env=environment(store, PYTHONUNBUFFERED="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run(store, "policy", "tighten", "transit.book", "--approvals", "1").status == 0
    run(store, "exec", "transit", "plan", "--", "from=A", "to=B")
    asked = run(store, "exec", "transit", "book", "--json", "--", "option=opt-1", "confirm=true").document()
    assert process.stdout is not None
    assert asked["approval"]["id"].encode() in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, b"")


def test_watch_with_json_answers_once_with_what_waits(store: Path) -> None:
    found: list[str] = []
    watcher = threading.Thread(target=lambda: found.append(run(store, "approvals", "watch", "--json").out))
    watcher.start()
    run(store, "policy", "tighten", "transit.cancel", "--approvals", "1")
    asked = run(store, "exec", "transit", "cancel", "--json", "--", "booking=bk-1", "confirm=true").document()
    watcher.join(60)
    assert asked["approval"]["id"] in found[0]


def test_eight_at_once_lose_nothing(store: Path) -> None:
    processes = [
        subprocess.Popen(
            [*HCPX, "grant", f"user:u{number}", "verb.exec.read", "--pack", "ledger", "--verb", "*"],
            env=environment(store),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        for number in range(8)
    ]
    assert [process.wait(60) for process in processes] == [0] * 8
    grants = run(store, "grants", "--json").document()["grants"]
    assert {f"user:u{number}" for number in range(8)} <= {one["principal"] for one in grants}

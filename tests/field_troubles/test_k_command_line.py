"""Group K: the command line for agents and people (Spec 05 section 1)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import Any

import pytest

from tests.field_troubles.site import Site, ledger

TRANSFER = ("exec", "ledger", "transfer", "--", "amount=1.00", "payee=demo")


def closed_stdin(site: Site, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "hcpx", *words]
    return subprocess.run(command, capture_output=True, env=site.environment(), timeout=60, check=False)


def test_k1_with_stdin_closed_a_gate_answers_at_once_and_asks_nothing(site: Site) -> None:
    ledger(site)
    done = closed_stdin(site, *TRANSFER)
    assert (done.returncode, done.stdout) == (75, b"")
    assert done.stderr.startswith(b"confirm_required: confirm required\n")
    assert b"Run it?" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert site.started() == 0


def test_k1_with_a_terminal_to_read_from_but_none_to_write_to_it_asks_nothing(site: Site) -> None:
    ledger(site)
    ours, theirs = pty.openpty()
    os.write(ours, b"yes\n")
    command = [sys.executable, "-m", "hcpx", *TRANSFER]
    done = subprocess.run(command, stdin=theirs, capture_output=True, env=site.environment(), timeout=60, check=False)
    os.set_blocking(theirs, False)
    assert os.read(theirs, 100) == b"yes\n"
    for fd in (ours, theirs):
        os.close(fd)
    assert (done.returncode, done.stdout, b"Run it?" in done.stderr) == (75, b"", False)
    assert site.started() == 0


def test_k1_at_a_terminal_on_both_sides_one_word_runs_it(site: Site) -> None:
    ledger(site)
    for word, status, runs in ((b"no\n", 75, 0), (b"yes\n", 0, 1)):
        ours, theirs = pty.openpty()
        os.write(ours, word)
        command = [sys.executable, "-m", "hcpx", *TRANSFER]
        running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=site.environment())
        os.close(theirs)
        _, told = running.communicate(timeout=60)
        os.close(ours)
        assert (running.returncode, b"Run it?" in told, site.started()) == (status, True, runs)
        assert b"amount" in told
        assert b"1.00" in told


@pytest.mark.parametrize(
    ("words", "status", "code", "error"),
    [
        (("exec", "nopack", "x", "--json"), 69, "unknown_pack", "unknown pack nopack"),
        (
            ("exec", "ledger", "--json"),
            2,
            "usage",
            "the verb is missing: hcpx exec PACK VERB -- name=value; see: hcpx pack show ledger",
        ),
        (("exec", "ledger", "nope", "--json"), 69, "no_policy", "no policy for nope"),
        (("exec", "--json"), 2, "usage", "a pack and a verb are missing: hcpx exec PACK VERB -- name=value"),
        (("exec", "ledger", "balance", "--nosuch", "--json"), 2, "usage", None),
        (("exec", "ledger", "balance", "--json", "--", "novalue"), 2, "usage", None),
        (("exec", "ledger", "balance", "--json", "--", "a:={"), 2, "usage", None),
        (("exec", "ledger", "balance", "--json", "--", "a=@/nowhere"), 2, "usage", None),
        (("exec", "ledger", "balance", "--json", "--session"), 2, "usage", None),
        (("exec", "ledger", "balance", "--json", "--wait-approval", "soon"), 2, "usage", None),
        (("--nosuch", "--json"), 2, "usage", None),
        (("nosuch", "--json"), 2, "usage", None),
        (("audit", "show", "a_nothing", "--json"), 66, "not_found", None),
        (("exec", "-", "--json"), 64, "invalid_envelope", None),
        (("exec", "ledger", "balance", "--json", "--args-json", "[1]"), 2, "usage", None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_k2_with_json_every_error_is_one_json_document(
    site: Site, words: tuple[str, ...], status: int, code: str, error: str | None
) -> None:
    ledger(site)
    done = site.cli(*words)
    body: dict[str, Any] = done.body
    assert (done.status, body["ok"], body["code"]) == (status, False, code)
    assert error is None or body["error"] == error
    assert done.stderr == b""


def test_k3_a_value_keeps_its_equals_signs(site: Site) -> None:
    site.install("notes", commands={"add": ["notes", "add", "--text={{text}}", "--tag={{tag}}"]})
    done = site.cli("exec", "notes", "add", "--json", "--", "text=a=b==", "tag=cGxvcA==")
    assert done.body["result"]["argv"] == ["add", "--text=a=b==", "--tag=cGxvcA==", "--json"]


def test_k3_json_and_files_are_read_behind_the_first_sign_too(site: Site) -> None:
    site.install("notes", commands={"add": ["notes", "add", "--text={{text}}", "--tag={{tag}}"]})
    (site.folder / "a=b").write_text("from=file\n")
    done = site.cli("exec", "notes", "add", "--json", "--", 'text:="x=:=\'"', "tag=@a=b")
    assert done.body["result"]["argv"] == ["add", "--text=x=:='", "--tag=from=file\n", "--json"]
    assert json.loads(done.stdout)["ok"] is True

"""A secret planted everywhere that one can be, and looked for everywhere: only the program itself has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.field_troubles.site import Site

SECRET = "planted-secret-9f8e7d"
TYPED = "typed-by-hand-5c4b3a"
SCRIPT = """\
#!/usr/bin/env python3
import os, sys, time
held = os.environ["T"] + open(os.environ["F"]).read()
print(held, flush=True)
sys.stderr.write("said " + held)
if sys.argv[1] == "wait":
    while not os.path.exists("looked"):
        time.sleep(0.02)
if sys.argv[1] == "hang":
    time.sleep(60)
sys.exit(3 if sys.argv[1] == "fail" else 0)
"""


def install(site: Site) -> None:
    row = {"operation": "write", "confirm": False, "binding": "user"}
    site.install(
        "pad",
        SCRIPT,
        wrap={"json_flag": None},
        binding={
            "env": {"T": "Bearer {{access_token}}"},
            "file": {"name": "cred.json", "content": '{"token":"{{access_token}}"}', "env": "F"},
        },
        commands={
            "wait": ["pad", "wait"],
            "fail": ["pad", "fail"],
            "hang": ["pad", "hang"],
            "pin": {
                "summary": "s",
                "cli": ["pad", "pin", "--pin={{pin}}"],
                "args": {"pin": {"type": "string", "x-secret": True, "pattern": "^t"}},
            },
        },
        policy={
            "wait": row,
            "fail": row,
            "hang": row | {"limits": {"timeout_s": 1}},
            "pin": row | {"approvals": 1},
        },
    )
    site.owner.bindings.connect("pad", SECRET)


def holders() -> set[str]:
    """Which processes of this machine have the secret in their command line or environment, and in which."""
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                if SECRET.encode() in (path / name).read_bytes():
                    found.add(f"{name} of {(path / 'comm').read_text().strip()}")
            except OSError:
                continue
    return found


def files_with(folder: Path, text: str) -> list[str]:
    found = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [str(path) for path in found if os.access(path, os.R_OK) and text.encode() in path.read_bytes()]


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_a_credential_is_with_the_program_and_nowhere_else(
    site: Site, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    site.owner.configure("sandbox", mode)
    install(site)
    seen: list[set[str]] = []

    def look(_name: str, data: bytes) -> None:
        assert SECRET.encode() not in data
        seen.append(holders())
        for place in site.home.glob("state/workspaces/*"):
            (place / "looked").touch()

    results: list[Any] = [site.call("pad", "wait", on_output=look)]
    results += [site.call("pad", "fail", {"note": SECRET, "more": [{"deep": SECRET}]}), site.call("pad", "hang")]
    assert [result.ok or result.code for result in results] == [True, "exit", "timeout"]
    assert seen[0] <= {"environ of python3"}
    assert results[1].error == 'said Bearer [redacted]{"token":"[redacted]"}'
    told = [text for result in results for text in (result.to_json().decode(), repr(result))]
    cli = site.cli("exec", "pad", "fail")
    told += [cli.stdout.decode(), cli.stderr.decode(), site.exported().decode(), caplog.text]
    told += [site.cli("audit", "list", "--json").stdout.decode(), site.cli("bindings", "--json").stdout.decode()]
    assert [text for text in told if SECRET in text] == []
    site.runtime.books.verify()
    assert files_with(site.home, SECRET) == []


def test_a_secret_arg_is_in_no_message_record_or_question(site: Site) -> None:
    install(site)
    asked = site.call("pad", "pin", {"pin": TYPED})
    refused = site.call("pad", "pin", {"pin": f"x{TYPED}"})
    assert (asked.code, refused.code) == ("approval_required", "invalid_args")
    words = ("exec", "pad", "pin", "--explain", "--json", "--", f"pin={TYPED}")
    told = [asked.to_json().decode(), refused.to_json().decode(), site.exported().decode()]
    told += [site.cli("approvals", "show", asked.approval.id, "--json").stdout.decode()]
    told += [site.cli("approvals", "list").stdout.decode(), site.cli("audit", "list", "--json").stdout.decode()]
    assert [text for text in told if TYPED in text] == []
    assert site.cli(*words).status == 75
    assert files_with(site.home, TYPED) == []


def test_a_session_token_is_kept_nowhere(site: Site) -> None:
    install(site)
    token = site.person("user:p-1", ("verb.exec.write", "pad", ["*"]))
    assert site.cli("exec", "pad", "fail", "--json", token=token).body["code"] == "binding_missing"
    bad = site.cli("exec", "pad", "--session", token, "--json", "--nosuch")
    assert token not in (bad.stdout + bad.stderr).decode()
    assert token not in site.exported().decode()
    assert token not in site.cli("session", "list", "--json").stdout.decode()
    assert files_with(site.home, token) == []
    assert files_with(site.home, token.removeprefix("hcps_")) == []

"""Group D: the life of a program and of what it starts (Spec 04 section 3)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.field_troubles.site import Site
from tests.field_troubles.test_c_output import only

# A length of sleep that nobody else on the machine asks for, so that the sleeper can be told by it.
SLEEP = f"300.{os.getpid()}"


def sleepers() -> list[str]:
    """The processes on this machine that sleep for our own odd time."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if SLEEP.encode() in words:
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("limits", [{}, {"timeout_s": 20}], ids=["default-limit", "own-limit"])
def test_d1_a_grandchild_that_keeps_the_pipe_open_holds_nobody_up(site: Site, limits: dict[str, int]) -> None:
    only(site, f"#!/bin/sh\nsleep {SLEEP} &\necho '{{\"ok\":true}}'\n", limits=limits)
    result = site.call("depot", "run")
    assert (result.ok, result.result) == (True, {"ok": True})
    assert sleepers() == []


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_d1_no_grandchild_outlives_the_answer(site: Site, mode: str) -> None:
    site.owner.configure("sandbox", mode)
    script = f"#!/bin/sh\nsetsid sleep {SLEEP} >/dev/null 2>&1 &\nsleep {SLEEP} &\nwait\n"
    only(site, script, limits={"timeout_s": 1})
    result = site.call("depot", "run")
    assert (result.code, result.enforced.sandbox.startswith("native")) == ("timeout", mode == "native-local")
    assert sleepers() == []


def test_d2_a_program_reads_nothing_of_the_callers_stdin(site: Site) -> None:
    only(site, "#!/bin/sh\nexec cat\n")
    ours, theirs = os.pipe()
    os.write(theirs, b"the next message")
    command = [sys.executable, "-m", "hcpx", "exec", "depot", "run", "--json"]
    done = subprocess.run(command, stdin=ours, capture_output=True, env=site.environment(), timeout=60, check=False)
    os.close(theirs)
    with open(ours, "rb") as left:
        assert left.read() == b"the next message"
    assert (done.returncode, b'"stdout":""' in done.stdout) == (0, True)


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_d3_a_program_killed_by_a_signal_is_no_success(site: Site, mode: str) -> None:
    site.owner.configure("sandbox", mode)
    only(site, "#!/bin/sh\necho '{\"partial\":true}'\nkill -KILL $$\n")
    done = site.cli("exec", "depot", "run", "--json")
    result = done.body
    assert (result["ok"], result["code"], result["error"]) == (False, "exit", "exit 137")
    assert (result["exit_code"], result["stdout"], done.status) == (137, '{"partial":true}\n', 137)
    plain = site.cli("exec", "depot", "run")
    assert (plain.status, b"-9" in plain.stderr, b"exit 137" in plain.stderr) == (137, False, True)


def test_d4_a_flood_on_stderr_blocks_nobody(site: Site) -> None:
    script = "#!/bin/sh\nhead -c 2000000 /dev/zero | tr '\\0' e >&2\necho '{\"n\":1}'\n"
    only(site, script, limits={"output_bytes": 1_000_000})
    result = site.call("depot", "run")
    assert (result.ok, result.result, result.truncated) == (True, {"n": 1}, ("stderr",))
    assert len(result.stderr) == 1_000_000

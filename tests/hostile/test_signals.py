"""Interrupts at any moment of a command line, and a terminal that is closed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.field_troubles.site import Site
from tests.field_troubles.test_d_processes import SLEEP, sleepers

WAITS = "#!/bin/sh\necho up >>started\nwhile [ ! -e go ]; do sleep 0.02; done\necho done\n"


def start(site: Site, *, ignoring: signal.Signals | None = None) -> subprocess.Popen[bytes]:
    """Start `hcpx exec` as a shell would, perhaps with a signal ignored."""
    command = [sys.executable, "-m", "hcpx", "exec", "pad", "run", "--json"]
    if ignoring is not None:
        command = ["/bin/sh", "-c", f"trap '' {ignoring.name[3:]}; exec \"$@\"", "sh", *command]
    return subprocess.Popen(command, env=site.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def workspace(site: Site) -> Path:
    """Wait until the program runs, and return its directory."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for path in site.home.glob("state/workspaces/*/started"):
            return path.parent
        time.sleep(0.01)
    raise AssertionError("the program did not start")


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_a_closed_terminal_ends_the_whole_tree_and_the_end_is_recorded(site: Site, mode: str) -> None:
    site.owner.configure("sandbox", mode)
    script = f"#!/bin/sh\nsleep {SLEEP} &\necho up >>started\nsleep {SLEEP}\n"
    site.install("pad", script, wrap={"json_flag": None}, commands={"run": ["pad", "run"]})
    running = start(site)
    workspace(site)
    running.send_signal(signal.SIGHUP)
    out, err = running.communicate(timeout=60)
    result: dict[str, Any] = json.loads(out)
    assert (running.returncode, err, result["code"], result["exit_code"]) == (130, b"", "cancelled", 130)
    assert sleepers() == []
    assert site.audited(result)["outcome"] == "cancelled"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_a_signal_that_the_caller_ignores_is_ignored(site: Site, number: signal.Signals) -> None:
    site.install("pad", WAITS, wrap={"json_flag": None}, commands={"run": ["pad", "run"]})
    running = start(site, ignoring=number)
    place = workspace(site)
    running.send_signal(number)
    (place / "go").touch()
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err, json.loads(out)["stdout"]) == (0, b"", "done\n")


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_the_start_crashes_nothing(site: Site) -> None:
    """What Python prints of an interrupt before it has begun with us is its own."""
    site.install("pad", "#!/bin/sh\necho done\n", wrap={"json_flag": None}, commands={"run": ["pad", "run"]})
    chance = random.Random(7)
    for _ in range(30):
        running = start(site)
        time.sleep(chance.uniform(0.02, 0.12))
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert running.returncode in (0, 1, 130, -signal.SIGINT)
        assert not out or json.loads(out)["ok"] in (True, False)
        assert b"hcpx/faces" not in err
    assert site.holds()

"""SIGKILL at many moments of a real call: the store verifies, what was answered stands, nothing runs twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any, NamedTuple

import pytest

from tests.field_troubles.site import Site

TRIALS = 16
# Leaves a line with its argument, so that every start can be counted.
SCRIPT = '#!/bin/sh\necho "$1" >>started\nsleep 0.03\necho \'{"ok":true}\'\n'


class Killed(NamedTuple):
    """One call that was killed: which write it was, and what it had answered by then."""

    key: str
    answer: dict[str, Any] | None


def command(key: str) -> list[str]:
    words = ("exec", "pad", "write", "--json", "--idempotency-key", key, "--", f"key={key}", "confirm=true")
    return [sys.executable, "-m", "hcpx", *words]


def started(site: Site) -> Counter[str]:
    return Counter(
        line for path in site.home.glob("state/workspaces/*/started") for line in path.read_text().splitlines()
    )


def killed(site: Site, key: str, after_s: float) -> Killed:
    running = subprocess.Popen(
        command(key), env=site.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=site.folder
    )
    time.sleep(after_s)
    running.send_signal(signal.SIGKILL)
    out, err = running.communicate(timeout=60)
    assert err == b""
    return Killed(key, json.loads(out) if out else None)


def repeated(site: Site, key: str) -> Any:
    done = subprocess.run(command(key), env=site.environment(), capture_output=True, timeout=60, check=False)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_a_killed_call_loses_nothing_that_was_answered_and_runs_nothing_twice(site: Site, mode: str) -> None:
    site.owner.configure("sandbox", mode)
    site.install(
        "pad",
        SCRIPT,
        wrap={"json_flag": None},
        commands={"write": ["pad", "{{key}}"]},
        policy={"write": {"operation": "write", "confirm": True}},
    )
    site.close()
    began = time.monotonic()
    assert subprocess.run(command("warm"), env=site.environment(), capture_output=True, check=True).stdout
    usual = time.monotonic() - began
    chance = random.Random(mode)
    calls = [killed(site, f"k-{n}", usual * chance.uniform(0.1, 1.1)) for n in range(TRIALS)]

    here = Site(site.folder)
    assert here.holds()
    ended = {entry["audit_id"]: entry["outcome"] for entry in here.records(verb_key="write")}
    unknown = {entry["audit_id"] for entry in here.runtime.books.audit.unknown()}
    assert unknown == {audit_id for audit_id, outcome in ended.items() if outcome == "unknown"}
    here.close()
    before = started(site)
    for call in calls:
        if call.answer is not None:
            assert (call.answer["ok"], ended[call.answer["audit_id"]], before[call.key]) == (True, "ok", 1)
        again = repeated(site, call.key)
        if call.answer is not None:
            assert again["warnings"] == [f"replayed: this is the recorded result of {call.answer['audit_id']}"]
        elif before[call.key]:
            assert again["ok"] or (again["code"], again["step"]) == ("outcome_unknown", 4)
        else:
            assert again["ok"] or again["code"] == "outcome_unknown"
    assert {key: many for key, many in started(site).items() if many != 1} == {}
    told = site.cli("audit", "list", "--outcome", "unknown", "--json").body["calls"]
    assert {entry["audit_id"] for entry in told} == unknown
    assert site.cli("audit", "verify").status == 0

"""Many processes on one store: nothing is lost, nothing happens twice, an approval serves one run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.field_troubles.site import Site

SCRIPT = "#!/bin/sh\necho \"$1\" >>started\necho '{}'\n"
TRIALS, RACERS, ROUNDS = 30, 4, 2

# Waits with an open store, so that all of them call at the same moment.
RACER = """
import json, sys
from hcpx import Hcp
hcp = Hcp.open()
print("up", flush=True)
for line in sys.stdin:
    result = hcp.exec("pad", "wire", {"n": int(line), "confirm": True})
    print(json.dumps("ran" if result.ok else result.code), flush=True)
"""


def pad(site: Site) -> None:
    site.install(
        "pad",
        SCRIPT,
        wrap={"json_flag": None},
        commands={"write": ["pad", "{{n}}"], "wire": ["pad", "{{n}}"]},
        policy={
            "write": {"operation": "write", "confirm": True},
            "wire": {"operation": "write", "confirm": True, "approvals": 1},
        },
    )


def started(site: Site) -> Counter[str]:
    return Counter(
        line for path in site.home.glob("state/workspaces/*/started") for line in path.read_text().splitlines()
    )


@pytest.mark.slow
def test_an_approval_that_four_processes_race_for_serves_exactly_one_run(site: Site) -> None:
    pad(site)
    judge: Any = site.runtime.session(site.person("user:judge", ("verb.approve", "pad", ["*"])))
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER],
            env=site.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(RACERS)
    ]
    told: list[list[str]] = []
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "up\n"
    for n in range(TRIALS):
        asked = site.call("pad", "wire", {"n": n, "confirm": True})
        site.runtime.books.decide(judge, asked.approval.id, "approve")
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(f"{n}\n")
            racer.stdin.flush()
        told.append(sorted(json.loads(racer.stdout.readline()) for racer in racers if racer.stdout is not None))
    for racer in racers:
        racer.communicate(timeout=60)
    assert told == [["approval_required"] * (RACERS - 1) + ["ran"]] * TRIALS
    assert started(site) == Counter(str(n) for n in range(TRIALS))
    assert site.holds()


def test_a_row_that_lets_one_call_in_holds_between_processes(site: Site) -> None:
    script = "#!/bin/sh\nmkdir alone || exit 9\nsleep 0.1\nrmdir alone\necho '{}'\n"
    site.install(
        "pad",
        script,
        wrap={"json_flag": None},
        commands={"run": ["pad", "run"]},
        policy={"run": {"operation": "read", "limits": {"concurrency": 1}}},
    )
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: told(site, "exec", "pad", "run", "--json"), range(4)))
    assert [status for status, _ in done] == [0] * 4
    assert done[0][1]["enforced"]["limits"]["concurrency"] == 1


@pytest.mark.slow
def test_eight_processes_that_call_and_change_the_store_lose_and_double_nothing(site: Site) -> None:
    """Half of them share their keys, so that of four calls under one key one runs."""
    pad(site)
    site.call("pad", "write", {"n": "warm", "confirm": True})

    def work(worker: int) -> list[tuple[str, int, Any]]:
        done: list[tuple[str, int, Any]] = []
        for n in range(ROUNDS):
            key = f"shared-{n}" if worker % 2 else f"own-{worker}-{n}"
            words = ["exec", "pad", "write", "--json", "--idempotency-key", key, "--", f"n={key}", "confirm=true"]
            done.append(("exec", *told(site, *words)))
            right = ["user:p", "verb.exec.read", "--pack", "pad", "--verb", f"v{worker}-{n}"]
            done.append(("grant", *told(site, "grant", *right, "--json")))
        done.append(("session", *told(site, "session", "new", "--actor", f"agent:a{worker}", "--json")))
        return done

    with ThreadPoolExecutor(8) as pool:
        answers = [answer for found in pool.map(work, range(8)) for answer in found]
    odd = [answer for answer in answers if answer[1] != 0 and answer[2].get("code") != "busy"]
    assert odd == []
    assert started(site) - Counter(["warm"]) == Counter(
        [f"own-{worker}-{n}" for worker in range(0, 8, 2) for n in range(ROUNDS)]
        + [f"shared-{n}" for n in range(ROUNDS)]
    )
    assert len(site.owner.grants.list(site.owner.tenant, "user:p")) == 8 * ROUNDS
    actors = {row.actor for row in site.owner.sessions.list(site.owner.tenant)}
    assert actors >= {f"agent:a{worker}" for worker in range(8)}
    assert (len(site.records(verb_key="write")), site.holds()) == (8 * ROUNDS + 1, True)


def told(site: Site, *words: str) -> tuple[int, Any]:
    answer = site.cli(*words)
    assert answer.stderr == b""
    return answer.status, answer.body

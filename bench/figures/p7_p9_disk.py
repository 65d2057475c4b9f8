"""P7 and P9: what is on disk when an adapter starts and an answer is given, by trace and by `kill -9`."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from bench.commands import COMMANDS, DATABASE
from bench.report import Beside, Finding
from bench.sampling import BadSample, expect
from bench.spread import exactly, spread
from bench.tracing import Moment, moments, traced
from bench.worker import kill

if TYPE_CHECKING:
    from bench.course import Course
    from bench.home import Home

CALLS, KILLS = 20, 20
PROGRAM = "/usr/bin/true"
LOG = f"{DATABASE}-wal"


def measure(course: Course) -> dict[str, Finding]:
    """Trace writes, then reads; then kill the process the moment that it answers."""
    home = course.home("p7")
    p7, p9 = Finding(), Finding()
    try:
        writes, reads = (_pairs(course, home, name) for name in ("act", "look"))
    except FileNotFoundError as why:
        p7.absent["trace"] = p9.absent["trace"] = str(why)
    else:
        p7.values["write"] = spread([syncs for syncs, _, _ in writes])
        p7.values["read"] = spread([syncs for syncs, _, _ in reads])
        late = sum(bool(start.unsynced) for _, start, _ in writes)
        p7.beside.append(Beside("writes whose intent was not on disk when the program started", "", exactly(late)))
        p9.values["power"] = exactly(sum(bool(answer.unsynced) for _, _, answer in writes))
        lost = exactly(sum(bool(answer.unsynced) for _, _, answer in reads))
        p9.beside.append(Beside(f"of {CALLS} reads, by power loss (no promise)", "", lost))
    p9.values["kill"] = exactly(_lost_by_kill(course, home, "act"))
    p9.beside.append(
        Beside(f"of {KILLS} reads, by `kill -9` (no promise)", "", exactly(_lost_by_kill(course, home, "look")))
    )
    return {"P7": p7, "P9": p9}


def _pairs(course: Course, home: Home, name: str) -> list[tuple[int, Moment, Moment]]:
    """For each call: the syncs before its program started, that moment, and the moment of its answer."""
    trace = course.scratch / f"trace-{name}"
    before = home.records()
    process = _caller(course, home, traced(_argv(course), trace))
    answers = [_answer(process, name) for _ in range(CALLS)]
    process.communicate()
    _all_recorded(home, before, answers, name)
    lines = trace.read_text(errors="replace").splitlines()
    seen = list(moments(lines, program=PROGRAM, answer="acknowledged ", log=LOG))
    expect(
        [moment.what for moment in seen] == ["start", "answer"] * CALLS,
        lambda: f"the trace of {CALLS} calls shows {len(seen)} starts and answers",
    )
    pairs: list[tuple[int, Moment, Moment]] = []
    syncs = 0
    for start, answer in zip(seen[::2], seen[1::2], strict=True):
        pairs.append((start.syncs - syncs, start, answer))
        syncs = answer.syncs
    return pairs[1:]  # the first call opens the store


def _lost_by_kill(course: Course, home: Home, name: str) -> int:
    lost = 0
    for _ in range(course.rounds(KILLS)):
        process = _caller(course, home, _argv(course))
        said = _answer(process, name)
        kill(process)
        lost += not home.ended(said)
    home.tell("audit", "verify")
    return lost


def _argv(course: Course) -> list[str]:
    return [os.fspath(course.python), "-m", "bench.acknowledged"]


def _caller(course: Course, home: Home, argv: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        argv,
        env=course.with_bench(home.environment()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _answer(process: subprocess.Popen[str], name: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    print(name, file=process.stdin, flush=True)
    word, _, audit_id = process.stdout.readline().strip().partition(" ")
    if word != "acknowledged":
        raise BadSample(f"{name} was not acknowledged")
    return audit_id


def _all_recorded(home: Home, before: int, answers: list[str], name: str) -> None:
    grown = home.records() - before
    expect(
        grown == len(answers) * COMMANDS[name].records,
        lambda: f"{len(answers)} calls of {name} left {grown} records",
    )

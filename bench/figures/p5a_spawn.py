"""P5a: a wrapped program, native-local, over the bare spawn of the same program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bench.peers import PEERS
from bench.report import Beside, Finding
from bench.sampling import interleave
from bench.spread import excess, ratio, scaled
from bench.worker import Worker

if TYPE_CHECKING:
    from bench.course import Course

HCPX, WRITE, BARE, APART = "hcpx", "hcpx write", "subprocess.run", "subprocess.run, own session"
NS_TO_US = 1e-3


def measure(course: Course) -> dict[str, Finding]:
    """One process each, all up at once, batches in random order."""
    finding = Finding(absent=dict(course.absent))
    with course.workers(
        _bare(course, BARE, "spawn"),
        _bare(course, APART, "spawn_apart"),
        course.hcpx_worker(HCPX, course.home("p5a"), "look", calls=50),
        course.hcpx_worker(WRITE, course.home("p5a-write"), "act", calls=25),
        *course.peer_workers("spawn", calls=25),
    ) as workers:
        measured = interleave(workers, rounds=course.rounds(20), rng=course.rng, needed=(HCPX, BARE))
    ours, base = measured.series[HCPX], measured.series[BARE]
    finding.values["ratio"] = ratio(ours, base)
    finding.values["excess"] = scaled(excess(ours, base), NS_TO_US)
    finding.absent.update(measured.out)
    finding.keep(measured.series)
    for name, what in (
        (APART, "the bare spawn in a session of its own, over the bare spawn"),
        (WRITE, "a write, its intent and outcome on disk, over the bare spawn"),
    ):
        if name in measured.series:
            finding.beside.append(Beside(what, "x", ratio(measured.series[name], base)))
    for peer in PEERS:
        if peer.name in measured.series:
            beside = measured.series[peer.name]
            finding.beside.append(Beside(f"{peer.name}'s call that spawns, over hcpx", "x", ratio(beside, ours)))
            more = scaled(excess(beside, base), NS_TO_US)
            finding.beside.append(Beside(f"{peer.name}'s call, more than the bare spawn", "us", more))
    return {"P5a": finding}


def _bare(course: Course, name: str, tool: str) -> Worker:
    argv = course.peer_argv("bench.peers.two_pipes", course.python, tool)
    return Worker(name, [os.fspath(part) for part in argv], course.plain(), calls=50)

"""P6: the same exec on a store that has grown large, over a small one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.figures.p1_cold import ColdExec
from bench.population import LARGE, SMALL, populated
from bench.report import Beside, Finding
from bench.sampling import interleave
from bench.spread import ratio

if TYPE_CHECKING:
    from bench.course import Course

FEW, MANY = "small store", "large store"


def measure(course: Course) -> dict[str, Finding]:
    """In process for the figure; a cold start and a wrapped program on both stand beside it."""
    few, many = populated(course, "few", SMALL), populated(course, "many", LARGE)
    finding = Finding()
    for command, calls in (("read", 400), ("look", 50)):
        with course.workers(
            course.hcpx_worker(FEW, few, command, calls=calls),
            course.hcpx_worker(MANY, many, command, calls=calls),
        ) as workers:
            measured = interleave(workers, rounds=course.rounds(20), rng=course.rng, warm=2, needed=(FEW, MANY))
        one = ratio(measured.series[MANY], measured.series[FEW])
        if command == "read":
            finding.values["ratio"] = one
            finding.keep(measured.series)
        else:
            finding.beside.append(Beside("a wrapped program, large over small", "x", one))
    for command, what in (("read", "a cold start"), ("look", "a cold start that wraps a program")):
        cold = interleave(
            [ColdExec(FEW, few, command), ColdExec(MANY, many, command)],
            rounds=course.rounds(30),
            rng=course.rng,
            needed=(FEW, MANY),
        )
        one = ratio(cold.series[MANY], cold.series[FEW])
        finding.beside.append(Beside(f"{what}, large over small", "x", one))
    return {"P6": finding}

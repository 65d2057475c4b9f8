"""P3: an exec in process, audited, beside the peers' calls of a tool that does as little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.peers import PEERS
from bench.report import Beside, Finding
from bench.sampling import interleave
from bench.spread import calls, ratio, scaled

if TYPE_CHECKING:
    from bench.course import Course

HCPX, LIST, STEP = "hcpx", "hcpx hcp.list", "hcpx one step"
NS_TO_US = 1e-3


def measure(course: Course) -> dict[str, Finding]:
    """One process each, all up at once, batches in random order."""
    home = course.home("p3")
    finding = Finding(absent=dict(course.absent))
    with course.workers(
        course.hcpx_worker(HCPX, home, "read", calls=400),
        course.hcpx_worker(LIST, course.home("p3-list"), "list", calls=100),
        course.hcpx_worker(STEP, course.home("p3-step"), "step", calls=100),
        *course.peer_workers("echo", calls=200),
    ) as workers:
        measured = interleave(workers, rounds=course.rounds(20), rng=course.rng, warm=2, needed=(HCPX,))
    ours = measured.series[HCPX]
    finding.values["p50"] = scaled(calls(ours), NS_TO_US)
    finding.absent.update(measured.out)
    finding.keep(measured.series)
    if "MCP SDK" in measured.series:
        finding.values["ahead"] = ratio(measured.series["MCP SDK"], ours)
    for name, what in ((LIST, "`hcp.list`"), (STEP, "a composite of one step, two audited calls")):
        if name in measured.series:
            finding.beside.append(Beside(f"{what}, over that read", "x", ratio(measured.series[name], ours)))
    for peer in PEERS:
        if peer.name in measured.series:
            what = f"{peer.name}'s call (audit: {peer.audit}), over hcpx"
            finding.beside.append(Beside(what, "x", ratio(measured.series[peer.name], ours)))
    return {"P3": finding}

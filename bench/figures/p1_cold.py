"""P1: a cold `hcpx exec`, from spawn to exit, over a Python that does nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from bench.commands import COMMANDS
from bench.peers import PEERS
from bench.report import Beside, Finding
from bench.sampling import Measured, expect, interleave
from bench.spread import ratio
from bench.worker import Cold

if TYPE_CHECKING:
    from bench.course import Course
    from bench.home import Home

HCPX, PYTHON = "hcpx exec", "python -I -c pass"
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
OTHERS = (("sudo -n true", ("sudo", "-n", "true")), ("doas true", ("doas", "true")))


class ColdExec(Cold):
    """`hcpx exec` of one command: its answer is checked, and that the audit grew by it."""

    def __init__(self, name: str, home: Home, command: str) -> None:
        super().__init__(
            name,
            [os.fspath(home.program), *COMMANDS[command].line()],
            home.environment(),
            cwd=home.folder.parent,
            check=self._said,
        )
        self._home = home
        self._command = COMMANDS[command]

    def sample(self) -> list[int]:
        """Count the records before and after."""
        before = self._home.records()
        taken = super().sample()
        grown = self._home.records() - before
        expect(grown == self._command.records, lambda: f"{self.name}: one call left {grown} records")
        return taken

    def _said(self, said: str) -> None:
        answer = json.loads(said)
        right = self._command.right(answer.get("ok"), answer.get("result"))
        expect(right, lambda: f"{self.name}: wrong answer: {said.strip()[-300:]}")


def measure(course: Course) -> dict[str, Finding]:
    """Against bare Python and the system's own tools; then, fewer times, against the peers' cold starts."""
    home = course.home("p1")
    bare = Cold(PYTHON, [os.fspath(course.python), "-I", "-c", "pass"], home.environment(), cwd=home.folder.parent)
    finding = Finding()
    near = interleave(
        [
            ColdExec(HCPX, home, "read"),
            ColdExec("hcpx exec of hcp.list", home, "list"),
            bare,
            *_others(course, finding),
        ],
        rounds=course.rounds(60),
        rng=course.rng,
        needed=(HCPX, PYTHON),
    )
    finding.values["ratio"] = ratio(near.series[HCPX], near.series[PYTHON])
    finding.keep(near.series)
    _beside(finding, near, "hcpx exec of hcp.list", PYTHON, "`hcp.list` instead, wall over `python -I -c pass`")
    for name, _ in OTHERS:
        _beside(finding, near, HCPX, name, f"hcpx over `{name}`")
    _peers(course, home, finding)
    return {"P1": finding}


def _others(course: Course, finding: Finding) -> list[Cold]:
    found: list[Cold] = []
    for name, argv in OTHERS:
        path = shutil.which(argv[0], path=SYSTEM)
        if path is None:
            finding.absent[name] = "not on this machine"
        else:
            found.append(Cold(name, [path, *argv[1:]], course.plain(), cwd=course.scratch))
    return found


def _peers(course: Course, home: Home, finding: Finding) -> None:
    peers = [
        Cold(
            peer.name,
            course.peer_argv(peer.module, course.pythons[peer.name], "echo", "once"),
            course.plain(),
            cwd=Path(course.scratch),
        )
        for peer in PEERS
        if peer.name in course.pythons
    ]
    finding.absent.update(course.absent)
    if not peers:
        return
    far = interleave([ColdExec(HCPX, home, "read"), *peers], rounds=course.rounds(7), rng=course.rng, needed=(HCPX,))
    for peer in peers:
        _beside(finding, far, peer.name, HCPX, f"{peer.name}, one call from a cold start, over hcpx")
    del far.series[HCPX]
    finding.keep(far.series)


def _beside(finding: Finding, measured: Measured, of: str, to: str, what: str) -> None:
    finding.absent.update(measured.out)
    if of in measured.series and to in measured.series:
        finding.beside.append(Beside(what, "x", ratio(measured.series[of], measured.series[to])))

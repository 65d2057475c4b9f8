"""What a run stands on: the installed hcpx, its homes, the peers, the dice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.environments import CannotInstall, clean_environment, installed_hcpx, python_with
from bench.home import Home
from bench.peers import PEERS
from bench.worker import ROOT, Worker

if TYPE_CHECKING:
    from random import Random


@dataclass
class Course:
    """One run. `effort` scales the number of rounds; `say` tells a person what goes on."""

    cache: Path
    scratch: Path
    rng: Random
    effort: float
    say: Callable[[str], None]
    program: Path = Path()
    pythons: dict[str, Path] = field(default_factory=dict[str, Path])
    absent: dict[str, str] = field(default_factory=dict[str, str])

    def prepare(self, *, peers: bool) -> None:
        """Install the wheel of this checkout, and the peers that can be had."""
        self.say("building and installing hcpx")
        self.program = installed_hcpx(self.cache)
        for peer in PEERS if peers else ():
            self.say(f"looking for {peer.name}")
            try:
                self.pythons[peer.name] = python_with(self.cache, peer.name, peer.requirements)
            except CannotInstall as why:
                self.absent[peer.name] = f"not installed: {why}"

    @property
    def python(self) -> Path:
        """The Python of hcpx's own environment."""
        return self.program.parent / "python"

    def rounds(self, number: int) -> int:
        """A number of rounds at this run's effort, at least three."""
        return max(3, round(number * self.effort))

    def home(self, name: str) -> Home:
        """A fresh home with the bench's packs installed and active."""
        return Home.fresh(self.scratch / name, self.program)

    @contextmanager
    def workers(self, *wanted: Worker) -> Iterator[Sequence[Worker]]:
        """Close the workers whatever happens."""
        try:
            yield wanted
        finally:
            for worker in wanted:
                worker.close()

    def hcpx_worker(self, name: str, home: Home, what: str, *, calls: int) -> Worker:
        """Calls from Python, in one process."""
        argv = [os.fspath(self.python), "-m", "bench.hcpx_calls", what]
        return Worker(name, argv, self.with_bench(home.environment()), calls=calls)

    def peer_workers(self, tool: str, *, calls: int) -> list[Worker]:
        """One worker for each peer that is here."""
        return [
            Worker(
                peer.name,
                self.peer_argv(peer.module, self.pythons[peer.name], tool),
                self.plain(),
                calls=calls,
            )
            for peer in PEERS
            if peer.name in self.pythons
        ]

    def peer_argv(self, module: str, python: Path, *what: str) -> list[str]:
        """The command line of a peer's file."""
        return [os.fspath(python), "-m", module, *what]

    def plain(self) -> dict[str, str]:
        """The environment of what is not hcpx."""
        return self.with_bench(clean_environment(self.scratch))

    @staticmethod
    def with_bench(environment: dict[str, str]) -> dict[str, str]:
        """The same, so that the bench's own files are found by a Python that is not its own."""
        return {**environment, "PYTHONPATH": os.fspath(ROOT)}

"""An HCP_HOME for the bench: its packs, installed and active, and a look at its audit."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.commands import DATABASE, PACKS
from bench.environments import clean_environment
from bench.sampling import expect

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Home:
    """The folder of one store and the program that works on it."""

    folder: Path
    program: Path

    @staticmethod
    def fresh(folder: Path, program: Path) -> Home:
        """Make a store through the command line, as its owner would."""
        home = Home(folder / "home", program)
        home.folder.mkdir(parents=True, mode=0o700)
        home.tell("config", "set", "sandbox", "native-local")
        home.tell("allow", "true")
        for name, manifest in PACKS.items():
            pack = folder / "packs" / name
            pack.mkdir(parents=True)
            (pack / "pack.yaml").write_text(manifest)
            home.tell("pack", "add", os.fspath(pack), "-y")
            home.tell("activate", name, "-y")
        return home

    def environment(self) -> dict[str, str]:
        """What every process on this home gets, and nothing else."""
        return clean_environment(self.folder.parent, HCP_HOME=os.fspath(self.folder))

    def tell(self, *what: str) -> str:
        """Run a command of hcpx and return what it printed. Raises `BadSample` where it fails."""
        argv = [os.fspath(self.program), *what]
        done = subprocess.run(
            argv,
            env=self.environment(),
            cwd=self.folder.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = (done.stderr or done.stdout).strip()[-300:]
        expect(not done.returncode, lambda: f"hcpx {' '.join(what)}: exit status {done.returncode}: {said}")
        return done.stdout

    def records(self) -> int:
        """How many records all chains of the audit hold: each chain is numbered without a gap."""
        return self._asked("SELECT coalesce(sum(seq), 0) FROM chains")[0][0]

    def ended(self, audit_id: str) -> bool:
        """Tell whether the call of that id is on record with its end."""
        rows = self._asked("SELECT record FROM audit WHERE audit_id = ?", audit_id)
        return any("outcome" in json.loads(record) for (record,) in rows)

    def _asked(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.folder / DATABASE}?mode=ro", uri=True)) as database:
            return database.execute(sql, values).fetchall()

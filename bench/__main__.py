"""`python -m bench`: measure, print the table, write JSON, make the docs page."""

from __future__ import annotations

import argparse
import fcntl
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random, SystemRandom

from bench import page, table
from bench.budget import ROWS
from bench.course import Course
from bench.environments import CannotInstall, cache_folder
from bench.figures import FIGURES
from bench.report import Finding, Report
from bench.sampling import BadSample
from bench.worker import ROOT

EPILOG = (
    "The exit status is 0 where every sample was what it should be, over budget or not, else 1: a figure is "
    "for people to judge, and no test run hangs on it."
)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line."""
    line = _parser().parse_args(words)
    report = Report.from_json(Path(line.source).read_bytes()) if line.source else _measured(line)
    if line.json:
        Path(line.json).write_bytes(report.to_json())
    if line.page:
        Path(line.page).write_text(page.render(report))
    print(table.render(report), end="")
    return 0 if report.sound() else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__, epilog=EPILOG)
    known = [row.id for row in ROWS if not row.later]
    parser.add_argument("--only", type=lambda text: text.split(","), default=known, help="rows, such as P1,P3")
    parser.add_argument("--json", metavar="FILE", help="write what was found")
    parser.add_argument("--page", metavar="FILE", help="write the page for the docs: ratios only")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing, read what --json wrote")
    parser.add_argument("--no-peers", action="store_true", help="leave out what is installed from a registry")
    parser.add_argument("--effort", type=float, default=1.0, help="scale the number of rounds (default 1)")
    parser.add_argument("--seed", type=int, default=None, help="repeat the order of another run")
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder(),
        help="environments and large stores (default %(default)s)",
    )
    return parser


def _measured(line: argparse.Namespace) -> Report:
    seed = SystemRandom().randrange(2**32) if line.seed is None else line.seed
    report = Report(1, _version(), _commit(), datetime.now(UTC).strftime("%Y-%m-%d"), seed, _machine(), {})
    with _alone(line.cache) as scratch:
        course = Course(line.cache, scratch, Random(seed), line.effort, _say)
        course.prepare(peers=not line.no_peers)
        for rows, measure in FIGURES.items():
            if not set(rows) & set(line.only):
                continue
            _say(f"measuring {', '.join(rows)}")
            try:
                report.findings.update(measure(course))
            except BadSample as why:
                report.findings.update({row: Finding(refused=str(why)) for row in rows})
    return report


@contextmanager
def _alone(cache: Path) -> Iterator[Path]:
    """Hold the cache for one run, and give it a folder that is gone afterwards."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run holds {cache}; two at once would falsify each other") from None
        scratch = Path(tempfile.mkdtemp(prefix="run-", dir=cache))
        before = Path.cwd()
        os.chdir(scratch)
        try:
            yield scratch
        finally:
            os.chdir(before)
            shutil.rmtree(scratch, ignore_errors=True)


def _version() -> str:
    for text in (ROOT / "pyproject.toml").read_text().splitlines():
        if text.startswith("version = "):
            return text.split('"')[1]
    return "unknown"


def _commit() -> str:
    asked = ["git", "-C", os.fspath(ROOT), "describe", "--always", "--dirty", "--abbrev=7", "--exclude=*"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    return done.stdout.strip()


def _machine() -> dict[str, str]:
    return {
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "kernel": platform.release(),
    }


def _say(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotInstall as trouble:
        sys.exit(f"hcpx cannot be installed from this checkout: {trouble}")

"""Starts workers on a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def started(home: Path, what: str, times: int, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """A worker that runs, stdin and stdout being pipes; `before` stands in front of its command line."""
    code = "import sys; sys.path[:0] = sys.argv[1:3]; from tests.store.worker import main; main(sys.argv[3:])"
    argv = [sys.executable, "-c", code, str(ROOT / "src"), str(ROOT), str(home), what, str(times)]
    return subprocess.Popen([*before, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def said(process: subprocess.Popen[str], start: str) -> str:
    """The rest of the next line, which begins with `start`."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(f"{start} ") or line == f"{start}\n", line
    return line[len(start) :].strip()


def finished(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Everything that they said; each must have ended well."""
    lines: list[str] = []
    for process in processes:
        out, _ = process.communicate()
        assert process.returncode == 0, out
        lines.extend(out.splitlines())
    return lines

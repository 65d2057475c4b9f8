"""Pages as scripts: what a reader types runs in one shell, and what stands below it is what comes out.

In what stands below, `...` stands for anything within a line, and a line of `...` alone for any lines. A command with
nothing below it ends well and prints nothing on stdout. `make TARGET` is not run: the target is there.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.architecture.sources import ROOT

PAGES = ("README.md", "docs/tutorial/wrap-your-first-command.md", "docs/how-to/hand-a-pack-to-an-agent.md")
GENERATED = ("docs/reference/cli.md", "docs/reference/errors.md", "docs/reference/manifest.md")
_FENCE = re.compile(r"^```(?P<kind>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_RUN = frozenset({"console", "python"})
_MARK = "\x1e"


class Step(NamedTuple):
    """One command of a page with what is shown below it; `kind` is `console` or `python`."""

    kind: str
    line: int
    command: str
    shown: str


class Block(NamedTuple):
    """One fenced block of a page: `kind` is the word behind its fence, `line` where its text begins."""

    kind: str
    line: int
    text: str


class Ended(NamedTuple):
    """How a step ended; `output` is stdout and stderr as they came."""

    status: int
    output: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(one["kind"], text[: one.start()].count("\n") + 2, one["text"]) for one in _FENCE.finditer(text)]


def more_pages() -> list[str]:
    """Return the other pages that have their reader do something: each is a walk of its own."""
    found = [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md"))]
    written = [page for page in found if page not in PAGES + GENERATED]
    return [page for page in written if any(block.kind in _RUN for block in blocks(page))]


def steps(page: str) -> list[Step]:
    """Return what a page has its reader do, in order."""
    found: list[Step] = []
    for block in blocks(page):
        if block.kind == "python":
            found.append(Step("python", block.line, block.text, ""))
        elif block.kind == "console":
            found += _console(block.text, block.line)
    return found


def _console(text: str, line: int) -> list[Step]:
    found: list[Step] = []
    for place, row in enumerate(text.splitlines(), line):
        if row.startswith("$ "):
            found.append(Step("console", place, row[2:], ""))
        elif row == ">" or row.startswith("> "):
            found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{row[2:]}")
        else:
            found[-1] = found[-1]._replace(shown=f"{found[-1].shown}{row}\n")
    return found


def walked(page: str, folder: Path, environment: dict[str, str]) -> list[tuple[Step, Ended]]:
    """Do what the page says, in one shell that begins in `folder`."""
    todo = steps(page)
    # The reader's next command still finds the status of the last one.
    mark = f"_status=$?; printf '{_MARK}%d{_MARK}' $_status; (exit $_status)"
    script = "".join(f"{_command(step)}\n{mark}\n" for step in todo)
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    parts = done.stdout.split(_MARK)
    assert len(parts) == 2 * len(todo) + 1, done.stdout
    ends = [Ended(int(status), output) for output, status in zip(parts[::2], parts[1::2], strict=False)]
    return list(zip(todo, ends, strict=True))


def _command(step: Step) -> str:
    if step.kind == "python":
        return f"python - <<'END OF BLOCK'\n{step.command}END OF BLOCK"
    if step.command.startswith("make "):
        return f"grep -q '^{step.command[5:]}:' {shlex.quote(str(ROOT / 'Makefile'))}"
    return step.command


def fits(shown: str, output: str) -> bool:
    """Tell whether an output is what the page shows."""
    pattern = ""
    for row in shown.splitlines():
        if row == "...":
            pattern += r"(?:[^\n]*\n)*"
        else:
            words = [re.escape(part) for part in row.split("...")]
            pattern += r"[^\n]*".join(re.sub(r"(?:\\ ){2,}", r" +", word) for word in words) + r" *\n"
    return re.fullmatch(pattern, output) is not None

"""Short ways to start a program and to look at processes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

from hcpx.sandbox.spawn import Command, Finished, run
from hcpx.vocabulary.invocation import Cancel

PATH = "/usr/local/bin:/usr/bin:/bin"
PYTHON = str(Path("/usr/bin/python3").resolve())
# In a shell script: a process that sleeps and bears the name `$1`.
SLEEPER = '(exec -a "$1" sleep 300)'


def command(
    script: str,
    *args: str,
    timeout_s: float = 60,
    keep: int = 65536,
    cancel: Cancel | None = None,
    directory: int = -1,
    env: dict[str, str] | None = None,
    on_output: Callable[[str, bytes], None] | None = None,
) -> Command:
    """A shell script as a command, marked by its private folder as a backend would do it."""
    mark = f"/private/{uuid.uuid4().hex}"
    return Command(
        executable="/bin/bash",
        argv=("bash", "-c", script, "script", *args),
        env={"PATH": PATH, "HOME": mark, **(env or {})},
        timeout_s=timeout_s,
        keep=keep,
        cancel=cancel or Cancel(),
        directory=directory,
        on_output=on_output,
        mark=mark,
    )


def shell(script: str, *args: str, **options: object) -> Finished:
    """Run a shell script."""
    finished = run(command(script, *args, **options))  # pyright: ignore[reportArgumentType]
    assert isinstance(finished, Finished), finished
    return finished


def token() -> str:
    """A text that stands in the arguments of the processes of one test only."""
    return f"token-{uuid.uuid4().hex}"


def alive(text: str) -> list[int]:
    """The processes that were started with an argument that holds `text`, and have not ended."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        if int(process.name) == os.getpid():
            continue
        try:
            arguments = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in arguments:
            found.append(int(process.name))
    return found


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))

"""The command line as a user meets it: real processes, a terminal, and the same calls inside this process."""

from __future__ import annotations

import errno
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.architecture.sources import ROOT

HCPX = (sys.executable, "-m", "hcpx")
_MOST_S = 60


class Said(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout; anything else there is a failure."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        assert self.out.endswith("\n")
        return found


def environment(home: Path, **more: str) -> dict[str, str]:
    """The whole environment of a command: nothing of the machine that runs the tests."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "HCP_HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT / "src"),
        **more,
    }


def run(home: Path, *words: str | bytes, stdin: bytes = b"", cwd: Path | None = None, **more: str) -> Said:
    """Run `hcpx` in a process of its own."""
    done = subprocess.run(
        [*HCPX, *words],
        env=environment(home, **more),
        input=stdin,
        capture_output=True,
        cwd=cwd,
        check=False,
        timeout=_MOST_S,
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


class Terminal:
    """`hcpx` on a terminal of its own: what it shows can be waited for, and answered."""

    def __init__(self, home: Path, *words: str, **more: str) -> None:
        self._master, slave = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [*HCPX, *words],
            env=environment(home, TERM="xterm-256color", **more),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def wait_for(self, text: str) -> None:
        """Read until `text` is on the screen."""
        while text not in self.shown:
            assert self._read(), f"ended without {text!r}: {self.shown}"

    def type(self, text: str) -> None:
        """Type on the keyboard; `\\x04` at the start of a line is the end of input."""
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read to the end and return the exit status."""
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(_MOST_S)

    def _read(self) -> bool:
        try:
            data = os.read(self._master, 65536)
        except OSError as trouble:
            # What a terminal says when its last program has gone.
            if trouble.errno != errno.EIO:
                raise
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)

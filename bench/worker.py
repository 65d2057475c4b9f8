"""The measuring side: workers that stay up, and programs that start cold."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns

from bench.sampling import BadSample, expect

PATIENCE_S = 10
ROOT = Path(__file__).resolve().parent.parent


class Worker:
    """A subject whose process stays up and makes `calls` calls a sample."""

    def __init__(self, name: str, argv: Sequence[str], env: Mapping[str, str], *, calls: int) -> None:
        self.name = name
        self.calls = calls
        self._words = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- open for as long as the process may write to it
        self._process = subprocess.Popen(
            argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, text=True
        )

    def sample(self) -> list[int]:
        """Order a batch; the worker checked every answer and the growth of its records."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            print(self.calls, file=stdin, flush=True)
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise BadSample(f"{self.name}: {self._last_words()}")
        reply = json.loads(line)
        expect("error" not in reply, lambda: f"{self.name}: {reply['error']}")
        return reply["ns"]

    def _last_words(self) -> str:
        self._end()
        self._words.seek(0)
        lines = self._words.read().strip().splitlines()
        return lines[-1] if lines else f"ended with {self._process.returncode}"

    def close(self) -> None:
        """End the process, by closing its orders first."""
        self._end()
        self._words.close()

    def _end(self) -> None:
        try:
            self._process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class Cold:
    """A subject that is a whole program, from spawn to exit, its output in a file."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        cwd: Path,
        check: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.name = name
        self._argv = [os.fspath(part) for part in argv]
        self._env = dict(env)
        self._cwd = cwd
        self._check = check
        self._out = cwd / f".{name.replace('/', '_').replace(' ', '_')}.out"

    def sample(self) -> list[int]:
        """Start it, wait for it, look at its exit status, then at its output."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.fspath(self._out), flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        start = perf_counter_ns()
        child = os.posix_spawn(self._argv[0], self._argv, self._env, file_actions=files)
        _, status, _ = os.wait4(child, 0)
        taken = perf_counter_ns() - start
        said = self._out.read_text(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        expect(code == 0, lambda: f"{self.name}: exit status {code}: {said.strip()[-300:]}")
        self._check(said)
        return [taken]


def kill(process: subprocess.Popen[str]) -> None:
    """Kill it on the spot and wait until it is gone."""
    process.send_signal(signal.SIGKILL)
    process.wait()

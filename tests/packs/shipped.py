"""The packs that come with hcpx as their tests meet them: compiled, rendered, run as the runtime would."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hcpx.packs.gate import read_pack
from hcpx.rendering.command import compile_command
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.pack import Pack, Wrap
from hcpx.vocabulary.policy import Limits

PACKS = Path(__file__).parents[2] / "packs"
NAMES = sorted(path.parent.name for path in PACKS.glob("*/pack.yaml"))
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
NOBODY = 65534


@cache
def compiled(pack: str) -> Pack:
    """The pack as the runtime holds it; one that lint refuses is no pack."""
    found = read_pack(str(PACKS / pack)).sound
    assert found is not None
    return found


def wrapped(pack: str) -> Wrap:
    wrap = compiled(pack).wrap
    assert wrap is not None
    return wrap


def checked(pack: str, verb: str, args: dict[str, Any]) -> tuple[str, ...] | Denial:
    """What step 4 makes of a call's args: the argv, or the denial."""
    held = compiled(pack)
    command = compile_command(held, held.commands[verb])
    return command.check_args(args) or command.render_argv(args)


def argv(pack: str, verb: str, args: dict[str, Any]) -> tuple[str, ...]:
    rendered = checked(pack, verb, args)
    assert not isinstance(rendered, Denial), rendered
    return rendered


def refusal(pack: str, verb: str, args: dict[str, Any]) -> str | None:
    """The JSON pointer of the arg for which a call is refused before anything runs; None where it is not."""
    answer = checked(pack, verb, args)
    return answer.error.split(": ")[1] if isinstance(answer, Denial) else None


def as_nobody(limits: Limits | None = None) -> list[str]:
    """The words in front of a command that make it run like a pack's: no root, its limit of processes set."""
    words = ["prlimit", f"--nproc={limits.processes}"] if limits and "processes" in limits.asked else []
    if os.geteuid() == 0:
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]
    return words


def run(command: list[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    clean = {"PATH": SEARCH_PATH, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **env}
    return subprocess.run(
        command, cwd=cwd, env=clean, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
    )


def exec_in(cwd: Path, pack: str, verb: str, args: dict[str, Any], **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a pack's command as the runtime would: argv, environment, limits; the host's programs as nobody."""
    wrap = wrapped(pack)
    words = argv(pack, verb, args)
    if "/" in wrap.bin:
        command = [str(PACKS / pack / wrap.bin), *words]
    else:
        command = [*as_nobody(compiled(pack).policy[verb].limits), wrap.bin, *words]
    return run(command, cwd, **wrap.agent_env, **env)


@contextmanager
def open_folder() -> Generator[Path]:
    """A folder that an unprivileged user can reach and write, wherever pytest keeps its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        inner = folder / "project"
        inner.mkdir(mode=0o755)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            os.chown(inner, NOBODY, NOBODY)
        yield inner


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip a module where the host lacks one of the programs, and say which."""
    missing = [program for program in programs if shutil.which(program, path=SEARCH_PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"the host has no {', '.join(missing)}")

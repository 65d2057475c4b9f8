"""The packs that come with hcpx, as their tests meet them: the manifest, the argv it renders, the program run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

PACKS = Path(__file__).parents[2] / "packs"
NAMES = sorted(path.parent.name for path in PACKS.glob("*/pack.yaml"))
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
NOBODY = 65534


@cache
def manifest(pack: str) -> dict[str, Any]:
    return YAML(typ="safe", pure=True).load(PACKS / pack / "pack.yaml")


def argv(pack: str, verb: str, args: dict[str, Any]) -> list[str]:
    """STAND-IN until hcpx.rendering is there."""
    said = manifest(pack)
    out: list[str] = []
    spec = said["commands"][verb]
    hole = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}")
    template = spec["cli"][1:]
    for at, token in enumerate(template):
        names = hole.findall(token)
        if names and all(args.get(name) is None for name in names):
            front = template[at - 1] if at else ""
            if (
                front.startswith("-")
                and front not in ("-", "--")
                and "=" not in front
                and not hole.search(front)
            ):
                out.pop()
            continue
        out.append(hole.sub(lambda m: "" if args.get(m[1]) is None else str(args[m[1]]), token))
    flag = said["wrap"].get("json_flag", "--json")
    if flag and flag not in template:
        out.insert(out.index("--") if "--" in template else len(out), flag)
    return out


def as_nobody(limits: dict[str, Any]) -> list[str]:
    """The words in front of a command that make it run like a pack's: no root, its limit of processes set."""
    words = ["prlimit", f"--nproc={limits['processes']}"] if "processes" in limits else []
    if os.geteuid() == 0:
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]
    return words


def run(command: list[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    clean = {"PATH": SEARCH_PATH, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **env}
    return subprocess.run(
        command, cwd=cwd, env=clean, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
    )


def exec_in(
    cwd: Path, pack: str, verb: str, args: dict[str, Any], **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a pack's command as the runtime would: its argv, its environment, its limits, an unprivileged user."""
    said = manifest(pack)
    limits = said["policy"][verb].get("limits", {})
    program = said["wrap"]["bin"]
    words = [str(PACKS / pack / program) if "/" in program else program, *argv(pack, verb, args)]
    return run([*as_nobody(limits), *words], cwd, **said["wrap"].get("agent_env", {}), **env)


@contextmanager
def open_folder() -> Iterator[Path]:
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


def needs(*programs: str) -> list[str]:
    return [program for program in programs if shutil.which(program, path=SEARCH_PATH) is None]


def refusal(pack: str, verb: str, args: dict[str, Any]) -> str | None:
    """STAND-IN: the JSON pointer of the arg that is refused."""
    import jsonschema_rs

    spec = manifest(pack)["commands"][verb]
    known = {name: value for name, value in args.items() if name in spec["args"]}
    schema = {"type": "object", "properties": spec["args"], "required": spec.get("required", [])}
    for problem in jsonschema_rs.validator_for(schema).iter_errors(known):
        return "/" + "/".join(map(str, problem.instance_path))
    return None

"""A runtime's folders, and jobs for its backend."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable
from typing import Any

from hcpx.sandbox.choose import Places, choose
from hcpx.sandbox.job import Backend, Job, NotStarted
from hcpx.sandbox.selftest import Folder
from hcpx.vocabulary.invocation import Cancel, Program
from hcpx.vocabulary.policy import Limits

SH = os.path.realpath("/bin/sh")


class Bench:
    """`pack`, `workspace` (private), `project` (the caller's own) and the backend of this machine."""

    def __init__(self, folder: str, kind: str = "bubblewrap") -> None:
        self.folder = os.path.realpath(folder)
        self.state = os.path.join(self.folder, "state")
        self.private = os.path.join(self.folder, "private")
        self.workspace = os.path.join(self.private, "workspace")
        self.project = os.path.join(self.folder, "project")
        self.pack = os.path.join(self.folder, "pack")
        for path in (self.workspace, self.project, self.pack):
            os.makedirs(path)
        os.chmod(self.pack, 0o755)
        chosen = choose("sandbox", Places(self.state, (self.private,)), (kind,))
        if isinstance(chosen, NotStarted):
            raise RuntimeError(chosen.why)  # noqa: TRY004 - a value of the machine's, not of a wrong type
        self.backend: Backend = chosen

    def program(self, name: str, text: str) -> str:
        """Write a program of the pack."""
        path = pathlib.Path(self.pack, name)
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def job(self, program: str, *argv: str, directory: Any = None, **more: Any) -> Job:
        """A job in the private workspace; fields of Limits and Job by name, `secrets` for private files."""
        secrets = more.pop("secrets", ())
        limits = {name: more.pop(name) for name in list(more) if name in Limits.__struct_fields__}
        fields: dict[str, Any] = {
            "name": os.path.basename(program),
            "env": {"PATH": "/usr/local/bin:/usr/bin:/bin"},
            "pack_root": self.pack,
            "writable": True,
            "keep": 1 << 20,
            "cancel": Cancel(),
            "files": secrets,
        }
        return Job(
            program=Program(os.path.realpath(program), ""),
            argv=argv,
            directory=directory or Folder(self.workspace),
            limits=Limits(**limits),
            **(fields | more),
        )

    def shell(self, script: str, *argv: str, **more: Any) -> Job:
        """A job that runs a shell script."""
        return self.job("/bin/sh", "-c", script, "sh", *argv, **more)


def processes(word: str) -> list[int]:
    """Every process of the machine that has a word in its command line, but for this one."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            line = pathlib.Path(f"/proc/{name}/cmdline").read_bytes()
            if word.encode() in line and int(name) != os.getpid():
                found.append(int(name))
    return found


def until(holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait until something holds, looking again and again; returns whether it does."""
    import time

    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True

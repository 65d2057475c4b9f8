"""Starts Python as any user: a checkout and its virtual environment may lie in somebody's home."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

import msgspec
import pytest

ROOT = pathlib.Path(__file__).parents[2]
SITE = pathlib.Path(msgspec.__file__).parents[1]
NOBODY = 65534


def python(folder: str) -> list[str]:
    """A Python that every uid may start, with copies below the folder of what is tested."""
    copies = os.path.join(folder, "lib")
    for name in ("src/hcpx", "tests/redteam", "tests/sandbox_isolation"):
        shutil.copytree(ROOT / name, os.path.join(copies, name.removeprefix("src/")), dirs_exist_ok=True)
    shutil.copytree(SITE / "msgspec", os.path.join(copies, "msgspec"))
    pathlib.Path(copies, "tests/__init__.py").touch()
    os.chmod(folder, 0o755)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for found in (f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if os.path.exists(found):
            clean = [
                "/usr/bin/env",
                "-i",
                "PATH=/usr/bin:/bin",
                "PYTHONDONTWRITEBYTECODE=1",
                f"PYTHONPATH={copies}",
            ]
            return [*clean, found]
    pytest.skip(f"no {version} below /usr, where every uid may start it")


def as_user(uid: int, command: list[str]) -> list[str]:
    """The same command line for another uid."""
    if uid == os.geteuid():
        return command
    return ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]

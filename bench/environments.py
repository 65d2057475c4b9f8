"""Virtual environments for what is measured, in a cache folder outside the tree.

They are made without pip and without any `.pth` file, and byte code is compiled: a `.pth` file or a missing
`.pyc` adds tens of milliseconds to every start, and an editable install measures neither.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

from bench.worker import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet")
PATIENCE_S = 300


class CannotInstall(Exception):
    """Something could not be installed; the message is what the installer said last."""


def cache_folder() -> Path:
    """The platform's cache folder, below the user's own."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hcpx-bench"


def python_with(cache: Path, name: str, what: Sequence[str]) -> Path:
    """Return the Python of an environment that holds `what` alone, made now where it is missing."""
    key = hashlib.sha256("\0".join([sys.version, name, *what]).encode()).hexdigest()[:12]
    folder = cache / "environments" / f"{name.lower().replace(' ', '-')}-{key}"
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
        _pip("--python", os.fspath(folder / "bin" / "python"), "install", *what)
        compileall.compile_dir(_site(folder), quiet=2, workers=0)
        ready.touch()
    strays = sorted(path.name for path in _site(folder).glob("*.pth"))
    if strays:
        raise CannotInstall(f"{strays[0]} would run at every start")
    return folder / "bin" / "python"


def hcpx_wheel(cache: Path) -> Path:
    """Build the wheel of the checkout that this file stands in; its name in the cache is its digest."""
    built = cache / "built"
    shutil.rmtree(built, ignore_errors=True)
    _pip("wheel", "--no-deps", "--wheel-dir", os.fspath(built), os.fspath(ROOT))
    (wheel,) = built.glob("hcpx-*.whl")
    kept = cache / "wheels" / hashlib.sha256(wheel.read_bytes()).hexdigest()[:16] / wheel.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    return wheel.replace(kept)


def installed_hcpx(cache: Path) -> Path:
    """Return the `hcpx` program of this checkout's wheel in an environment of its own, byte code compiled."""
    python = python_with(cache, "hcpx", [os.fspath(hcpx_wheel(cache))])
    if not list(_site(python.parent.parent).glob("hcpx/__pycache__/__init__.*.pyc")):
        raise CannotInstall("the byte code of hcpx was not compiled")
    return python.parent / "hcpx"


def clean_environment(scratch: Path, **more: str) -> dict[str, str]:
    """The environment of everything that is measured: the same few variables, nothing of the caller's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": os.fspath(scratch),
        "TMPDIR": os.fspath(scratch),
        "LANG": "C.UTF-8",
        **more,
    }


def _site(folder: Path) -> Path:
    return next((folder / "lib").glob("python3.*")) / "site-packages"


def _pip(*what: str) -> None:
    try:
        done = subprocess.run(
            [*PIP, *what],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"not installed within {PATIENCE_S} s") from None
    if done.returncode:
        raise CannotInstall((done.stderr.strip().splitlines() or ["pip failed"])[-1])

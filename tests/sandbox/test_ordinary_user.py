from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534
HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def as_nobody(interpreter: str, *args: str, home: str = "/") -> subprocess.CompletedProcess[bytes]:
    """Run Python as a user without any right, on this checkout and this installation."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    env = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(part for part in sys.path if part)]),
    }
    return subprocess.run([*drop, interpreter, *args], check=False, capture_output=True, cwd=ROOT, env=env)


def interpreter_of_nobody() -> str | None:
    """An interpreter of this version that a user without rights can run with all that the tests need."""
    wanted = (
        "import os, sys, hcpx, msgspec, pytest\n"
        f"same = sys.version_info[:2] == {sys.version_info[:2]}\n"
        "sys.exit(not (same and os.access(sys.executable, os.X_OK)))"
    )
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            if as_nobody(candidate, "-c", wanted).returncode == 0:
                return candidate
        except OSError:
            continue
    return None


@pytest.mark.root
@pytest.mark.slow
def test_all_of_it_holds_for_an_ordinary_user_too() -> None:
    if os.geteuid() != 0:
        pytest.skip("this is an ordinary user")
    interpreter = interpreter_of_nobody()
    if interpreter is None:
        pytest.skip("an ordinary user cannot reach this checkout or its Python")
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, NOBODY, NOBODY)
        options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", f"--basetemp={home}/tests"]
        done = as_nobody(interpreter, "-m", "pytest", *options, str(HERE), str(HERE.parent / "adapters"), home=home)
    assert done.returncode == 0, done.stdout.decode()

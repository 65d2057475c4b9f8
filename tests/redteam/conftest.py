"""Runs the ground once for each setting, and prints the table of attempts at the end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import Any

import pytest

from hcpx.sandbox.backends.landlock import ABI, abi
from tests.redteam.attempts import ATTEMPTS, ORDINARY, SETTINGS
from tests.redteam.people import NOBODY, as_user, python

Rows = dict[str, dict[str, Any]]
BACKENDS = ("primary", "fallback")
_rows: dict[str, Rows] = {}


def _backends() -> tuple[str, ...]:
    return BACKENDS if abi() >= ABI else ("primary",)


def settings() -> tuple[str, ...]:
    """What can be tried by whoever runs the tests: root can try all, an ordinary user its own."""
    return SETTINGS if os.geteuid() == 0 else (ORDINARY,)


def _lay_out(folder: str, uid: int) -> list[str]:
    pack = os.path.join(folder, "pack")
    os.mkdir(pack)
    shutil.copy(os.path.join(os.path.dirname(__file__), "attacks.py"), pack)
    os.chmod(os.path.join(pack, "attacks.py"), 0o755)
    command = [*python(folder), "-m", "tests.redteam.ground"]
    if os.geteuid() != 0:
        return command
    shutil.copy(os.path.realpath("/usr/bin/python3"), os.path.join(pack, "setuid"))
    os.chmod(os.path.join(pack, "setuid"), 0o4755)
    if uid == 0:
        return command
    for path in (folder, pack, os.path.join(pack, "attacks.py")):
        os.chown(path, uid, uid)
    return as_user(uid, command)


@pytest.fixture(scope="session")
def rows() -> dict[str, Rows]:
    """Every attempt's outcome: by setting, then by attack."""
    for setting in settings():
        folder = tempfile.mkdtemp(prefix="hcpx-redteam-")
        try:
            command = _lay_out(folder, NOBODY if setting == ORDINARY and os.geteuid() == 0 else os.geteuid())
            ended = subprocess.run(
                [*command, setting, ",".join(_backends()), folder],
                cwd="/",
                stdout=subprocess.PIPE,
                check=True,
                timeout=600,
            )
            found = [json.loads(line) for line in ended.stdout.splitlines()]
            _rows[setting] = {row["attack"]: row for row in found}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return _rows


def _word(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "-"
    return {True: "WORKED", False: "held", None: "refused"}[cell["worked"]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for setting, found in _rows.items():
        terminalreporter.section(f"red team: {setting}")
        heads = ("attempt", *BACKENDS, "control")
        terminalreporter.write_line("".join(head.ljust(62 if head == "attempt" else 10) for head in heads))
        for attempt in ATTEMPTS:
            row = found.get(attempt.attack)
            if row is None:
                continue
            cells = [attempt.title.ljust(62), *(_word(row.get(name)).ljust(10) for name in BACKENDS)]
            terminalreporter.write_line("".join(cells) + ("worked" if row["control"]["worked"] else "not here"))

"""The import contracts of pyproject.toml hold here, and each of them would notice a breach."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ROOMS = (
    "conformance", "faces", "runtime", "pipeline", "adapters", "hub", "store", "audit", "packs", "sense",
    "jobs", "sandbox", "rendering", "ports/__init__", "ports/rows", "settings", "vocabulary",
)  # fmt: skip
ALLOWED = {
    "__main__": "import hcpx.conformance\nimport hcpx.faces",
    "conformance": "import hcpx.faces",
    "faces": "import hcpx.runtime\nimport hcpx.vocabulary",
    "runtime": "import hcpx.pipeline\nimport hcpx.hub\nimport hcpx.adapters\nimport sqlite3",
    "pipeline": "import hcpx.rendering\nimport hcpx.ports",
    "adapters": "import hcpx.sandbox",
    "audit": "import hcpx.ports.rows",
    "hub": "import hcpx.sandbox",
    "sandbox": "import subprocess",
    "settings": "import os\nimport hcpx.vocabulary",
}
BREACHES = [
    ("layers", "vocabulary", "import hcpx.ports"),
    ("layers", "vocabulary", "def late():\n    import hcpx.settings"),
    ("layers", "runtime", "import hcpx.faces"),
    ("layers", "pipeline", "import hcpx.hub"),
    ("layers", "store", "from hcpx.audit import chain"),
    ("layers", "settings", "from . import ports"),
    ("layers", "sandbox", "import hcpx.adapters"),
    ("layers", "utils", "x = 1"),
    ("faces", "faces", "import hcpx.pipeline"),
    ("faces", "faces", "from hcpx import settings"),
    ("sandbox", "runtime", "from hcpx.sandbox import spawn"),
    ("sandbox", "faces", "import hcpx.sandbox"),
    ("rows", "pipeline", "from hcpx.ports import rows"),
    ("rows", "adapters", "from hcpx.ports.rows import PackRow"),
    ("pure", "pipeline", "import sqlite3"),
    ("pure", "vocabulary", "from os import path"),
    ("pure", "rendering", "import subprocess"),
    ("pure", "ports/__init__", "def late():\n    import click"),
]


def judged(folder: Path, files: dict[str, str], contract: str) -> tuple[bool, str]:
    """Whether the contract holds for a package of these rooms, and what was said."""
    package = folder / "hcpx"
    package.mkdir()
    (package / "__init__.py").touch()
    for room, text in files.items():
        (package / room).parent.mkdir(exist_ok=True)
        (package / f"{room}.py").write_text(text)
    return lint_imports(folder, "--contract", contract)


def lint_imports(sources: Path, *options: str) -> tuple[bool, str]:
    program = "import sys; from importlinter.cli import lint_imports_command as go; sys.exit(go())"
    ended = subprocess.run(
        [sys.executable, "-c", program, "--no-logo", "--no-cache", *options, str(ROOT / "pyproject.toml")],
        capture_output=True,
        text=True,
        check=False,
        cwd=sources,
        env={"PYTHONPATH": str(sources), "PATH": ""},
    )
    return ended.returncode == 0, ended.stdout + ended.stderr


def test_the_contracts_hold() -> None:
    kept, said = lint_imports(ROOT / "src")
    assert kept, said


@pytest.mark.parametrize("contract", ["layers", "faces", "sandbox", "rows", "pure"])
def test_what_the_house_allows_breaks_no_contract(tmp_path: Path, contract: str) -> None:
    kept, said = judged(tmp_path, {**dict.fromkeys(ROOMS, ""), **ALLOWED}, contract)
    assert kept, said


@pytest.mark.parametrize("contract", ["layers", "faces", "sandbox", "rows", "pure"])
def test_a_room_that_is_not_built_yet_breaks_no_contract(tmp_path: Path, contract: str) -> None:
    kept, said = judged(tmp_path, {"vocabulary": ""}, contract)
    assert kept, said


@pytest.mark.parametrize(("contract", "room", "text"), BREACHES)
def test_a_breach_is_noticed(tmp_path: Path, contract: str, room: str, text: str) -> None:
    kept, said = judged(tmp_path, {**dict.fromkeys(ROOMS, ""), room: text}, contract)
    assert (kept, "BROKEN" in said) == (False, True), said


def test_a_way_through_the_package_itself_is_noticed(tmp_path: Path) -> None:
    files = {
        **dict.fromkeys(ROOMS, ""),
        "pipeline": "from hcpx import Hcp",
        "__init__": "from hcpx.faces import Hcp",
    }
    kept, said = judged(tmp_path, files, "layers")
    assert (kept, "BROKEN" in said) == (False, True), said

"""What one `hcpx exec` loads: the cold path imports nothing that a public composite read does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.cli.shell import environment, run

PROGRAM = """
import runpy, sys
sys.argv = ["hcpx", *sys.argv[1:]]
try:
    runpy.run_module("hcpx", run_name="__main__", alter_sys=True)
except SystemExit as end:
    assert not end.code, end.code
sys.stderr.write(" ".join(sorted(sys.modules)))
"""
NEVER = {
    "click", "rich", "subprocess", "ruamel", "jsonschema_rs", "logging", "pathlib", "cryptography", "dataclasses",
    "asyncio", "socket", "tempfile", "shutil", "inspect", "traceback", "importlib.metadata", "urllib", "pwd", "getpass",
    "datetime", "hcpx.faces.cli.groups", "hcpx.faces.cli.kinds", "hcpx.runtime.owner", "hcpx.runtime.view",
    "hcpx.sandbox", "hcpx.adapters.wrap", "hcpx.packs.lint", "hcpx.packs.manifest", "hcpx.conformance",
}  # fmt: skip


def loaded(store: Path, *words: str) -> set[str]:
    """The modules that a call loads, beyond those of Python itself and of msgspec, which every value needs."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n{PROGRAM}",
            *words,
        ],
        env=environment(store),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import runpy, sys, msgspec; print(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stderr.split()) - set(bare.stdout.split())


def forbidden(modules: set[str]) -> set[str]:
    return {name for name in NEVER if any(one == name or one.startswith(f"{name}.") for one in modules)}


@pytest.mark.parametrize(
    "words",
    [
        ("exec", "hcp-cli", "hcp.list", "--json"),
        ("exec", "hcp-cli", "hcp.availability", "--json", "--", "pack=hcp-cli"),
        ("exec", "nopack", "x", "--help"),
    ],
    ids=["list", "availability", "help"],
)
def test_a_public_composite_read_loads_no_framework(words: tuple[str, ...], store: Path) -> None:
    run(store, "exec", "hcp-cli", "hcp.list")
    assert forbidden(loaded(store, *words)) == set()


def test_the_groups_load_no_table_library_without_a_terminal(store: Path) -> None:
    modules = loaded(store, "pack", "list")
    assert "click" in modules
    assert {"rich", "ruamel", "jsonschema_rs", "cryptography"} & modules == set()


def test_the_guard_sees_what_is_loaded(store: Path) -> None:
    assert "click" in forbidden(loaded(store, "pack", "list"))

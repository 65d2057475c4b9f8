"""Every block of every page is run; README, tutorial and first how-to against the wheel and in a year, too."""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hcpx import settings
from hcpx.runtime import Runtime
from hcpx.runtime.owner import CONFIGURABLE
from tests.architecture.sources import ROOT
from tests.docs.links import PAGES as MARKDOWN
from tests.docs.pages import GENERATED, PAGES, blocks, fits, more_pages, steps, walked

WRITTEN = [page for page in MARKDOWN if str(page.relative_to(ROOT)) not in GENERATED]
PROGRAMS = {
    "git": ("docs/packs/git.md",),
    "jq": ("docs/packs/jq.md",),
    "sqlite3": ("docs/packs/sqlite.md", "docs/reference/store.md"),
}
"""The programs of the host that a page uses beyond what every machine has."""
FAKETIME = sorted(glob.glob("/usr/lib/*/faketime/libfaketime.so.1"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it is built from this checkout, unpacked into a folder of its own."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (built,) = place.glob("*.whl")
    target = place / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*install, str(target), str(built)], check=True, capture_output=True, timeout=300)
    return target


def environment(folder: Path, source: Path) -> dict[str, str]:
    """The environment of a reader: `hcpx` and `python` on the path, a home of their own, and the hcpx of `source`."""
    programs = folder / "programs"
    programs.mkdir()
    for name, words in {"hcpx": "-m hcpx", "python": ""}.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
        program.chmod(0o755)
    (folder / "home").mkdir()
    return {
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder / "home"),
        "HCP_HOME": str(folder / "home" / "store"),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": f"{source}:{sysconfig.get_path('purelib')}",
    }


def walk(page: str, folder: Path, variables: dict[str, str]) -> None:
    """Walk through a page, and compare what it shows with what came."""
    runtime = Runtime.open(home=variables["HCP_HOME"], create_missing=True)
    if not all(check.ok for check in runtime.books.doctor() if check.name == "sandbox"):
        # What the pages tell a reader to do on such a machine.
        runtime.owner.configure("sandbox", "native-local")
    runtime.close()
    place = folder / "reading"
    place.mkdir()
    for step, ended in walked(page, place, variables):
        where = f"{page}:{step.line}: {step.command}\n{ended.output}"
        if step.shown:
            assert fits(step.shown, ended.output), where
        else:
            assert (ended.status, ended.output) == (0, ""), where


@pytest.mark.slow
@pytest.mark.parametrize("page", [*PAGES, *more_pages()])
def test_every_block_does_what_it_shows(page: str, tmp_path: Path) -> None:
    for program, pages in PROGRAMS.items():
        if page in pages and shutil.which(program) is None:
            pytest.skip(f"{program} is not here")
    walk(page, tmp_path, environment(tmp_path, ROOT / "src"))


@pytest.mark.slow
@pytest.mark.wheel
@pytest.mark.parametrize("page", PAGES)
def test_every_block_does_what_it_shows_with_the_wheel(page: str, tmp_path: Path, wheel: Path) -> None:
    walk(page, tmp_path, environment(tmp_path, wheel))


@pytest.fixture
def later() -> dict[str, str]:
    """The variables of a clock that is a year ahead.

    The library keeps its state under the number of each process and stumbles over what a killed one of that number
    left behind, so that is cleared away.
    """
    for left in [*Path("/dev/shm").glob("faketime_shm_*"), *Path("/dev/shm").glob("sem.faketime_sem_*")]:
        if not Path("/proc", left.name.rpartition("_")[2]).exists():
            with suppress(OSError):
                left.unlink()
    return {"LD_PRELOAD": FAKETIME[0], "FAKETIME": "+365d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


@pytest.mark.slow
@pytest.mark.wheel
@pytest.mark.skipif(not FAKETIME, reason="the library of the package libfaketime is not here")
@pytest.mark.parametrize("page", PAGES)
def test_every_block_does_what_it_shows_in_a_year(
    page: str, tmp_path: Path, wheel: Path, later: dict[str, str]
) -> None:
    walk(page, tmp_path, environment(tmp_path, wheel) | later)


@pytest.mark.slow
@pytest.mark.wheel
@pytest.mark.skipif(not FAKETIME, reason="the library of the package libfaketime is not here")
def test_the_tour_ends_as_it_tells_in_a_year(tmp_path: Path, wheel: Path, later: dict[str, str]) -> None:
    done = subprocess.run(
        ["hcpx", "demo"],
        env=environment(tmp_path, wheel) | later,
        executable=str(tmp_path / "programs" / "hcpx"),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_something_to_run(page: str) -> None:
    assert steps(page)


@pytest.mark.parametrize("page", [str(one.relative_to(ROOT)) for one in WRITTEN])
def test_a_block_that_is_not_run_is_read(page: str) -> None:
    from ruamel.yaml import YAML

    for block in blocks(page):
        where = f"{page}:{block.line}"
        if block.kind == "yaml":
            loader: Any = YAML(typ="safe", pure=True)
            assert isinstance(loader.load(block.text), dict), where
        elif block.kind == "json":
            assert isinstance(json.loads(block.text), dict), where
        else:
            assert block.kind in {"console", "python"}, f"{where}: a block that nobody runs or reads"


def test_every_setting_has_its_line() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) - {"NO_COLOR"}
    assert rows == {*settings._OURS, *CONFIGURABLE}
    assert [name for name in settings._GIVEN_TO_CHILDREN if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("shown", "output", "fit"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("...\nb\n", "x\ny\nb\n", True),
        ("a ... c\n", "a b c\n", True),
        ("a ... c\n", "a\nc\n", False),
        ("a  b\n", "a     b   \n", True),
        ("...\n", "", True),
    ],
)
def test_the_comparison_can_fail(shown: str, output: str, fit: bool) -> None:
    assert fits(shown, output) is fit


def test_the_reference_pages_are_fresh() -> None:
    from hcpx.faces.cli.reference import cli_page, errors_page

    stale = "run: scripts/reference"
    assert (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8") == cli_page(), stale
    assert (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8") == errors_page(), stale


def test_the_pages_name_no_folder_of_a_machine() -> None:
    assert [page for page in PAGES if os.environ.get("HOME", "/nowhere") in (ROOT / page).read_text()] == []

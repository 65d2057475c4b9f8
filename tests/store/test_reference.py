"""The pages on store and audit say what is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hcpx.audit.verify import verify_all
from hcpx.store.database import Database
from tests.store.world import TENANT, World, record

if TYPE_CHECKING:
    from tests.store.world import TurnedClock

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> list[str]:
    """The shell blocks of a page."""
    return re.findall(r"```sh\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_reference_names_every_table_and_no_other(world: World) -> None:
    page = (DOCS / "reference" / "store.md").read_text().partition("## Tables")[2].partition("##")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = [name for cell in rows for name in re.findall(r"`(\w+)`", cell)]
    there = world.database.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    assert sorted(named) == sorted(name for (name,) in there)


@pytest.mark.parametrize("changed", [False, True])
def test_an_export_can_be_checked_without_hcpx(world: World, tmp_path: Path, changed: bool) -> None:
    for number in range(1, 6):
        world.journal.settle(record(f"a_{number}", args={"memo": "a\\b\n%s 'x'"}), started=True)
    lines = b"".join(world.views.export(TENANT))
    (tmp_path / "audit.jsonl").write_bytes(lines.replace(b'"a_3"', b'"a_9"') if changed else lines)
    (script,) = blocks("concepts/audit.md")
    said = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line[:19] for line in said.stdout.splitlines()] == (['breaks at: {"seq":4'] if changed else [])


def test_a_backup_brings_a_damaged_store_back(world: World, home: Path, tmp_path: Path, clock: TurnedClock) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("the sqlite3 program is not installed")
    backup, recovery = blocks("reference/store.md")
    world.journal.settle(record("a_1"), started=True)
    safe = tmp_path / "safe"
    safe.mkdir()
    run(backup, home, safe)
    world.database.close()
    (home / "hcpx.db").write_bytes(b"damage")
    run(recovery.partition("hcpx doctor")[0], home, safe)
    with closing(Database.open(str(home))) as database:
        assert [(one.records, one.broken) for one in verify_all(World(database, clock).chains)] == [(1, None)]
    assert (home / "damaged" / "hcpx.db").read_bytes() == b"damage"


def run(script: str, home: Path, safe: Path) -> None:
    text = script.replace("/safe/place", str(safe))
    subprocess.run(
        ["sh", "-euc", text], env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HCP_HOME": str(home)}, check=True
    )

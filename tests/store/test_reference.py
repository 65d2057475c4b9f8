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


def typed(page: str) -> list[str]:
    """What is typed in each console block of a page, without the lines that call hcpx itself."""
    shown = re.findall(r"```console\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    return [
        "\n".join(line[2:] for line in block.splitlines() if line.startswith("$ ") and not line.startswith("$ hcpx"))
        for block in shown
    ]


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
    exported = tmp_path / "audit.jsonl"
    exported.write_bytes(lines.replace(b'"a_3"', b'"a_9"') if changed else lines)
    page = (DOCS / "concepts" / "audit.md").read_text()
    (script,) = re.findall(r"<<'EOF'\n(.*?)\n> EOF", page, re.DOTALL)
    (tmp_path / "check").write_text("\n".join(line[2:] for line in script.splitlines()))
    with exported.open("rb") as file:
        said = subprocess.run(["sh", "check"], stdin=file, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line[:19] for line in said.stdout.splitlines()] == (['breaks at: {"seq":4'] if changed else [])


def test_a_backup_brings_a_damaged_store_back(world: World, home: Path, tmp_path: Path, clock: TurnedClock) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("the sqlite3 program is not installed")
    backup, recovery, _ = typed("reference/store.md")
    world.journal.settle(record("a_1"), started=True)
    safe = tmp_path / "safe"
    safe.mkdir()
    run(backup, home, safe)
    world.database.close()
    (home / "hcpx.db").write_bytes(b"damage")
    run(f"{backup.splitlines()[0]}\n{recovery}", home, safe)
    with closing(Database.open(str(home))) as database:
        assert [(one.records, one.broken) for one in verify_all(World(database, clock).chains)] == [(1, None)]
    assert (home / "damaged" / "hcpx.db").read_bytes() == b"damage"


def run(script: str, home: Path, folder: Path) -> None:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HCP_HOME": str(home)}
    subprocess.run(["sh", "-euc", script], env=env, cwd=folder, check=True)

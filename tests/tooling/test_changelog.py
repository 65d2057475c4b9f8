"""The fragments of changelog.d become a release, and nothing of them is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("how to\n")
    shutil.copy(ROOT / "scripts" / "changelog", tmp_path / "scripts" / "changelog")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nWords.\n\n## 0.1.0 (2030-01-01)\n\n### Added\n\n* first\n")
    return tmp_path


def release(checkout: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(checkout / "scripts" / "changelog"), "0.2.0", "2030-02-03"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_fragments_become_the_newest_release_in_front_of_the_older_ones(checkout: Path) -> None:
    (checkout / "changelog.d" / "b.fixed.md").write_text("It holds.\n")
    (checkout / "changelog.d" / "a.added.md").write_text("One\nsentence.\n")
    assert release(checkout).returncode == 0
    assert (checkout / "CHANGELOG.md").read_text() == (
        "# Changelog\n\nWords.\n\n"
        "## 0.2.0 (2030-02-03)\n\n### Added\n\n* One sentence.\n\n### Fixed\n\n* It holds.\n\n"
        "## 0.1.0 (2030-01-01)\n\n### Added\n\n* first\n"
    )
    assert [path.name for path in (checkout / "changelog.d").iterdir()] == ["README.md"]


def test_a_fragment_of_an_unknown_kind_stops_the_release_and_changes_nothing(checkout: Path) -> None:
    before = (checkout / "CHANGELOG.md").read_text()
    (checkout / "changelog.d" / "a.improved.md").write_text("Better.\n")
    told = release(checkout)
    assert (told.returncode, "a.improved.md" in told.stderr) == (1, True)
    assert (checkout / "CHANGELOG.md").read_text() == before


def test_every_fragment_here_has_a_name_that_a_release_takes() -> None:
    named = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert [name for name in named if name.rsplit(".", 2)[1:] not in KINDS] == []


KINDS = [["added", "md"], ["changed", "md"], ["fixed", "md"], ["security", "md"]]

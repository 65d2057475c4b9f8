"""The corpus that comes with hcpx, whole, through each face."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hcpx.conformance.main import run
from hcpx.conformance.run import Outcome, outcomes
from tests.architecture.sources import ROOT

CORPUS = ROOT / "conformance"


@pytest.mark.slow
def test_every_case_of_the_corpus_passes_through_the_sdk(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(CORPUS), "sdk", as_json=False) == 0, capsys.readouterr().out


@pytest.mark.slow
def test_every_case_of_the_corpus_passes_through_the_command_line(tmp_path: Path) -> None:
    """File by file on as many threads as there are cores: each case waits for a process of its own."""
    files = sorted((CORPUS / "cases").glob("*.yaml"), key=lambda path: -path.stat().st_size)

    def of_file(path: Path) -> list[Outcome]:
        folder = tmp_path / path.stem
        (folder / "cases").mkdir(parents=True)
        (folder / "bin").symlink_to(CORPUS / "bin")
        (folder / "cases" / path.name).symlink_to(path)
        return list(outcomes(str(folder), ["cli"]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [outcome for one in pool.map(of_file, files) for outcome in one]
    assert [outcome for outcome in found if outcome.verdict == "failed"] == []
    assert set(Counter(outcome.file for outcome in found)) == {path.name for path in files}

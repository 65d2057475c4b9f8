"""The corpus that comes with hcpx, whole, through each face."""

from __future__ import annotations

import pytest

from hcpx.conformance.main import run
from tests.architecture.sources import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_every_case_of_the_corpus_passes(face: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(ROOT / "conformance"), face, as_json=False) == 0, capsys.readouterr().out

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.field_troubles.site import Site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in [name for name in os.environ if name.startswith("HCP_")]:
        monkeypatch.delenv(name)
    here = Site(tmp_path)
    yield here
    here.close()

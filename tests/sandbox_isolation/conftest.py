from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator

import pytest

from tests.sandbox_isolation.bench import Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    folder = tempfile.mkdtemp(prefix="hcpx-bench-")
    yield Bench(folder)
    shutil.rmtree(folder, ignore_errors=True)

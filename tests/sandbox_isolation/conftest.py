from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator

import pytest

from hcpx.sandbox.backends.landlock import ABI, abi
from tests.sandbox_isolation.bench import Bench


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A bench with the primary backend, or with the one that the test asks for."""
    kind = getattr(request, "param", "bubblewrap")
    if kind == "landlock" and abi() < ABI:
        pytest.skip("this kernel has no Landlock of ABI 6 or newer")
    folder = tempfile.mkdtemp(prefix="hcpx-bench-")
    yield Bench(folder, kind)
    shutil.rmtree(folder, ignore_errors=True)

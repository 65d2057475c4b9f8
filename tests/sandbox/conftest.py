from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.sandbox.running import descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _nothing_stays_behind() -> Iterator[None]:
    """No test leaves a child, dead or alive, or an open descriptor."""
    before = descriptors()
    yield
    assert descriptors() <= before
    with pytest.raises(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)

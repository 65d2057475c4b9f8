from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.sandbox.running import descriptors

if TYPE_CHECKING:
    from collections.abc import Iterator


def children() -> set[str]:
    """The numbers of this process's children, dead ones too."""
    found: set[str] = set()
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError), open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
            found |= set(file.read().split())
    return found


@pytest.fixture(autouse=True)
def _nothing_stays_behind() -> Iterator[None]:
    """No test leaves a child, dead or alive, or an open descriptor."""
    # What a test of another folder left dead is not asked for here.
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    before, born_before = descriptors(), children()
    yield
    assert descriptors() <= before
    assert children() <= born_before

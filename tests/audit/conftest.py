from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.store.world import TurnedClock, World, made

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a store that is not there yet."""
    return tmp_path / "home"


@pytest.fixture(params=["sqlite"])
def world(home: Path, clock: TurnedClock) -> Iterator[World]:
    """A new store with everything over it; each kind of store that there is."""
    world = made(home, clock)
    yield world
    world.database.close()

"""One call is judged by one state of the store, and the next by the state that is true then."""

from __future__ import annotations

import pytest

from hcpx.ports import StoreUnavailable
from hcpx.store.errors import NotFound
from tests.store.world import World, again


def change(world: World) -> None:
    world.allowed.allow("git", "/usr/bin/git")


def test_within_a_block_the_counter_is_the_one_that_was_found_first(world: World) -> None:
    other = again(world)
    before = world.database.changes()
    with world.database.steady():
        change(other)
        found = world.database.changes()
        change(other)
        assert (found, world.database.changes()) == (before + 1, before + 1)
    assert world.database.changes() == before + 2


def test_a_block_within_reads_anew_and_so_does_what_comes_after_it(world: World) -> None:
    other = again(world)
    before = world.database.changes()
    with world.database.steady():
        assert world.database.changes() == before
        change(other)
        with world.database.steady():
            assert world.database.changes() == before + 1
        assert world.database.changes() == before + 1
        change(other)
        assert world.database.changes() == before + 1
    assert world.database.changes() == before + 2


def test_an_own_change_is_seen_at_once(world: World) -> None:
    before = world.database.changes()
    with world.database.steady():
        assert world.database.changes() == before
        change(world)
        assert world.database.changes() == before + 1


def test_a_program_that_is_no_longer_allowed_does_not_start_however_old_the_call(world: World) -> None:
    change(world)
    other = again(world)
    with world.database.steady():
        assert world.allowed.real_path("git") == "/usr/bin/git"
        other.allowed.remove("git")
        assert world.allowed.real_path("git") is None
    with pytest.raises(NotFound):
        world.allowed.remove("git")


def test_a_store_that_cannot_be_reached_is_for_the_call_to_find(world: World) -> None:
    world.database.close()
    with world.database.steady(), pytest.raises(StoreUnavailable, match="closed"):
        world.database.changes()

"""The parts of a store under many threads: what is made on first use is made once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from hcpx.runtime import Runtime
from hcpx.runtime.parts import Adapters
from tests.runtime.conftest import House


def test_threads_that_meet_a_kind_first_share_its_one_adapter() -> None:
    made: list[object] = []
    together = Barrier(4)

    def make() -> Any:
        made.append(object())
        return made[-1]

    adapters = Adapters({"wrap": make})

    def ask(_: int) -> object:
        together.wait()
        return adapters["wrap"]

    with ThreadPoolExecutor(4) as pool:
        assert len({id(one) for one in pool.map(ask, range(4))}) == 1
    assert len(made) == 1


@pytest.fixture
def other(tmp_path: Path, house: House) -> Iterator[House]:
    folder = tmp_path / "other"
    folder.mkdir()
    second = House(folder)
    second.installed()
    yield second
    second.runtime.close()


def test_two_stores_open_in_one_process_run_programs_at_once(house: House, other: House) -> None:
    house.installed()
    together = Barrier(4)

    def call(one: House) -> Any:
        together.wait()
        return one.call("see", {"what": "x"})

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(call, [house, other] * 2))
    assert [result.error for result in results if not result.ok] == []


def test_a_store_opened_twice_in_one_process_is_one_store(house: House) -> None:
    house.installed()
    again = Runtime.open(home=str(house.home))
    try:
        assert again.execute({"pack_id": "tool", "verb_key": "see"}, token=None, face="api").ok
        assert len(house.runtime.books.audit.list(["local"], _everything())) == 1
    finally:
        again.close()


def _everything() -> Any:
    from hcpx.audit.views import Filter

    return Filter(limit=None)


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_a_runtime_that_was_closed_leaves_nothing_of_its_calls_behind(house: House, tmp_path: Path, mode: str) -> None:
    house.owner.configure("sandbox", mode)
    house.installed(wrap={"bin": "bin/probe", "workspace": {"mode": "ephemeral"}})
    runtime = Runtime.open(home=str(house.home))
    assert runtime.execute({"pack_id": "tool", "verb_key": "see"}, token=None, face="api").ok
    runtime.close()
    rooms = {"workspaces", "ephemeral", "sandbox", "calls", "landlock", "running", "sandbox-proof.json"}
    assert {path.name for path in (house.home / "state").rglob("*")} <= rooms

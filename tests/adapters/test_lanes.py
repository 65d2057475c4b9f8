"""Places that are counted over all processes of a store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock

import pytest

from hcpx.adapters.lanes import Lanes, Place
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Cancel
from tests.architecture.sources import ROOT

KEY = ("acme", "depot", "run")
HOLDER = """
import sys
from hcpx.adapters.lanes import Lanes
from hcpx.vocabulary.invocation import Cancel
place = Lanes(sys.argv[1]).take(("acme", "depot", "run"), 1, 60, Cancel())
print(type(place).__name__, flush=True)
sys.stdin.read()
"""


def is_free(lanes: Lanes, key: tuple[str, str, str] = KEY, limit: int = 1, within: float = 0) -> bool:
    """Take a place and give it back at once."""
    place = lanes.take(key, limit, within, Cancel())
    if isinstance(place, Denial):
        return False
    with place:
        return True


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has the one place until its stdin ends."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])}
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"Place\n"
            yield other
        finally:
            other.kill()


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_a_place_of_another_process_is_waited_for_and_comes_back_with_its_end(
    tmp_path: Path, holder: subprocess.Popen[bytes], killed: bool
) -> None:
    lanes = Lanes(str(tmp_path))
    assert lanes.take(KEY, 1, 0.01, Cancel()) == deny("busy", limit="concurrency 1")
    assert is_free(lanes, ("acme", "depot", "other"))
    assert is_free(lanes, limit=2)
    if killed:
        holder.kill()
    holder.communicate(timeout=60)
    assert is_free(lanes, within=60)


def test_a_call_that_waits_for_a_place_can_be_cancelled(tmp_path: Path) -> None:
    lanes, cancel = Lanes(str(tmp_path)), Cancel()
    held = lanes.take(KEY, 1, 0, cancel)
    assert isinstance(held, Place)
    with held, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lanes.take, KEY, 1, 60, cancel)
        cancel.cancel()
        assert waiting.result(60) == deny("cancelled")


def test_no_more_calls_than_places_are_in_at_once(tmp_path: Path) -> None:
    lanes, lock = Lanes(str(tmp_path)), Lock()
    inside, most = 0, 0

    def call(_: int) -> None:
        nonlocal inside, most
        place = lanes.take(KEY, 2, 60, Cancel())
        assert isinstance(place, Place)
        with place:
            with lock:
                inside += 1
                most = max(most, inside)
            Event().wait(0.005)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(call, range(24)))
    assert (inside, most) == (0, 2)


def test_where_no_place_can_be_made_the_limit_is_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "lanes").write_text("no folder")
    refused = Lanes(str(tmp_path)).take(KEY, 1, 0, Cancel())
    assert isinstance(refused, Denial)
    assert refused.code == "sandbox_unavailable"
    assert refused.error.startswith("sandbox: unavailable: the limit concurrency cannot be held: ")


def test_ids_are_never_part_of_a_path(tmp_path: Path) -> None:
    lanes = Lanes(str(tmp_path))
    for key in (("..", "..", ".."), ("a/b", "c", ""), ("a", "/b", "c"), ("\ud800", "", "")):
        assert is_free(lanes, key)
    assert {path.name for path in tmp_path.iterdir()} == {"lanes"}
    assert len(list((tmp_path / "lanes").iterdir())) == 4

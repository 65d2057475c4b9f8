"""Records of a burst share commits, wait no longer than they may, and none is lost or doubled (Spec 06)."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import pytest

from hcpx.audit import sharing
from hcpx.audit.sharing import MOST, Sharing
from hcpx.ports import StoreUnavailable


class Paper:
    """Keeps what was written, a list for each transaction; can be told to fail."""

    def __init__(self) -> None:
        self.written: list[list[str]] = []
        self.fails = False
        self.again = threading.Event()

    def write(self, batch: Sequence[str]) -> None:
        if self.fails:
            raise StoreUnavailable("disk full")
        self.written.append(list(batch))
        self.again.set()

    @property
    def flat(self) -> list[str]:
        return [one for batch in self.written for one in batch]


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written in the background: the test says when."""
    monkeypatch.setattr(sharing, "PATIENCE_S", 3600.0)


@pytest.mark.usefixtures("patient")
def test_a_record_that_comes_alone_is_written_at_once(paper: Paper) -> None:
    Sharing(paper.write).add("a")
    assert paper.written == [["a"]]


@pytest.mark.usefixtures("patient")
def test_the_rest_of_a_burst_shares_one_transaction_in_its_order(paper: Paper) -> None:
    shared = Sharing(paper.write)
    for one in "abcd":
        shared.add(one)
    assert paper.written == [["a"]]
    shared.flush()
    shared.flush()
    assert paper.written == [["a"], ["b", "c", "d"]]


@pytest.mark.usefixtures("patient")
def test_no_more_than_so_many_wait(paper: Paper) -> None:
    shared = Sharing(paper.write)
    names = [str(number) for number in range(MOST + 2)]
    for name in names:
        shared.add(name)
    assert paper.written == [names[:1], names[1 : MOST + 1]]


def test_what_waits_is_written_though_nobody_calls_again(paper: Paper) -> None:
    shared = Sharing(paper.write)
    shared.add("a")
    paper.again.clear()
    shared.add("b")
    assert paper.again.wait(10)
    assert paper.flat == ["a", "b"]


@pytest.mark.usefixtures("patient")
def test_a_failure_is_told_and_what_waited_is_written_once_when_it_is_over(paper: Paper) -> None:
    shared = Sharing(paper.write)
    shared.add("a")
    shared.add("b")
    paper.fails = True
    with pytest.raises(StoreUnavailable):
        shared.flush()
    with pytest.raises(StoreUnavailable):
        shared.add("told not to be recorded")
    paper.fails = False
    shared.add("c")
    assert paper.written == [["a"], ["b", "c"]]


@pytest.mark.usefixtures("patient")
def test_where_no_thread_can_be_had_every_call_writes_its_own(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sharing, "start_new_thread", none_left)
    shared = Sharing(paper.write)
    for one in "abc":
        shared.add(one)
    assert paper.written == [["a"], ["b"], ["c"]]


def test_many_threads_lose_nothing_and_double_nothing(paper: Paper) -> None:
    shared = Sharing(paper.write)
    lock = threading.Lock()
    write = paper.write

    def one_at_a_time(batch: Sequence[str]) -> None:
        with lock:
            write(batch)

    shared = Sharing(one_at_a_time)
    names = [[f"{thread}.{number}" for number in range(500)] for thread in range(4)]
    threads = [threading.Thread(target=lambda mine=mine: [shared.add(one) for one in mine]) for mine in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.flush()
    with lock:
        assert sorted(paper.flat) == sorted(one for mine in names for one in mine)


@pytest.mark.usefixtures("patient")
def test_a_forked_child_leaves_what_waits_to_its_parent(paper: Paper) -> None:
    shared = Sharing(paper.write)
    shared.add("a")
    shared.add("b")
    child = os.fork()
    if child == 0:
        shared.flush()
        os._exit(0 if paper.flat == ["a"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    shared.flush()
    assert paper.flat == ["a", "b"]

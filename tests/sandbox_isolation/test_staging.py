"""The thread that starts a sandbox for root: where it cannot be had, nothing was started."""

from __future__ import annotations

import os
import threading

import pytest

from hcpx.sandbox.backends.staging import on_own_thread
from hcpx.sandbox.job import NotStarted
from tests.sandbox_isolation.bench import Bench


def no_threads(patch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    patch.setattr(threading.Thread, "start", start)


def test_a_thread_that_cannot_be_had_is_a_fault_of_the_system_and_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_threads(monkeypatch)
    done: list[int] = []
    with pytest.raises(OSError, match="no thread can be started"):
        on_own_thread(lambda: done.append(1), interrupted=lambda: done.append(2))
    assert done == []


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only for root, who drops to another user, is a thread made")
def test_a_job_whose_thread_cannot_be_had_is_not_started(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    no_threads(monkeypatch)
    open_before = len(os.listdir("/proc/self/fd"))
    outcome = bench.backend.run(bench.shell("echo ran"))
    assert outcome == NotStarted("sandbox_unavailable", "no thread can be started")
    assert len(os.listdir("/proc/self/fd")) <= open_before + 1  # the journal of this process

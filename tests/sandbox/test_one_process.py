"""A row that allows one process allows nothing to be started (Spec 04 section 3)."""

from __future__ import annotations

import os
import resource
import subprocess

import pytest

from hcpx.sandbox import limits
from hcpx.vocabulary.policy import Limits

ONE = Limits(processes=1, asked=("processes",))


def test_one_process_is_one_whatever_else_the_user_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        held = limits.put_on(child.pid, ONE)
        assert resource.prlimit(child.pid, resource.RLIMIT_NPROC) == (1, 1)
        assert held["processes"] == 1


def test_more_than_one_counts_on_top_of_what_the_user_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        limits.put_on(child.pid, Limits(processes=3, asked=("processes",)))
        assert resource.prlimit(child.pid, resource.RLIMIT_NPROC)[0] >= 3


@pytest.mark.skipif(os.geteuid() == 0, reason="the kernel does not count root's processes")
def test_a_program_that_may_have_one_process_starts_none() -> None:
    script = "read line; /bin/true || exit 7"
    with subprocess.Popen(
        ["/bin/sh", "-c", f"{script}; exit 0"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        limits.put_on(child.pid, ONE)
        _, said = child.communicate(b"\n")
    assert child.returncode != 0
    assert b"fork" in said.lower()

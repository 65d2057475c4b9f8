"""A process is told from a later one that got its number."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hcpx.audit.process import Processes


def test_a_call_runs_from_its_begin_to_its_end() -> None:
    one, other = Processes(), Processes()
    mine = one.mine()
    assert other.runs(mine, "a_1") is False
    one.begin("a_1")
    assert other.runs(mine, "a_1") is True
    one.end("a_1")
    one.end("a_1")
    assert other.runs(mine, "a_1") is False


def test_another_process_is_known_while_it_lives_and_not_when_it_has_ended() -> None:
    code = "from hcpx.audit.process import Processes; print(Processes().mine(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert Processes().runs(name, "a_1") is True
        assert child.stdin is not None
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert Processes().runs(name, "a_1") is False, "a zombie does not run"
    assert Processes().runs(name, "a_1") is False


def test_a_number_that_is_used_again_is_another_process() -> None:
    boot, namespace, _, _ = Processes().mine().split(" ")
    assert Processes().runs(f"{boot} {namespace} 1 1", "a_1") is False
    assert Processes().runs(f"another-boot {namespace} {os.getppid()} 0", "a_1") is False


def test_what_another_container_began_counts_as_running_until_the_machine_restarts() -> None:
    boot, _, pid, started = Processes().mine().split(" ")
    assert Processes().runs(f"{boot} pid:[1] {pid} {started}", "a_1") is True
    assert Processes().runs(f"- pid:[1] {pid} {started}", "a_1") is False


@pytest.mark.parametrize("name", ["", "x", "a b c d", "a b 1", "a b 1 2 3"])
def test_what_is_no_name_runs_nowhere(name: str) -> None:
    assert Processes().runs(name, "a_1") is False


def test_a_forked_child_has_a_name_of_its_own() -> None:
    processes = Processes()
    mine = processes.mine()
    child = os.fork()
    if child == 0:
        os._exit(0 if processes.mine() != mine and processes.runs(mine, "a_1") else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

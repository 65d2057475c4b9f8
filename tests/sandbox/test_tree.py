from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hcpx.sandbox import proc, tree
from hcpx.sandbox.spawn import Command, Finished, run
from hcpx.vocabulary.invocation import Cancel
from tests.sandbox.running import PATH, PYTHON, SLEEPER, alive, shell, token

if TYPE_CHECKING:
    from pathlib import Path

# It leaves its group, session and parent behind and is deaf to TERM; if `bare`, it has no environment.
DAEMON = """
import os, signal, sys, time
ready, bare, mark = sys.argv[1:4]
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for fd in (0, 1, 2):
    os.close(fd)
with open(ready, "a") as file:
    file.write("x")
if bare == "bare":
    os.execve("/bin/sh", ["sh", "-c", "trap '' TERM; while :; do sleep 1; done", mark], {})
time.sleep(300)
"""
WAIT_FOR = 'until [ "$(cat $READY 2>/dev/null)" = "$WANTED" ]; do sleep 0.01; done'


def daemons(tmp_path: Path, mark: str, kinds: list[str], after: str, timeout_s: float) -> Finished:
    """Run a script that starts daemons, waits until all of them are there, and goes on with `after`."""
    ready = str(tmp_path / f"ready-{mark}")
    starts = "\n".join(f'{PYTHON} -I -S -c "$DAEMON" $READY {kind} {mark}' for kind in kinds)
    env = {"DAEMON": DAEMON, "READY": ready, "WANTED": "x" * len(kinds), "PATH": PATH}
    return shell(f"{starts}\n{WAIT_FOR}\n{after}", mark, env=env, timeout_s=timeout_s)


@pytest.mark.parametrize("kind", ["plain", "bare"])
def test_a_daemonised_grandchild_does_not_outlive_the_program(kind: str, tmp_path: Path) -> None:
    mark = token()
    finished = daemons(tmp_path, mark, [kind, kind], "exit 5", 60)
    assert (finished.how, finished.status) == ("exit", 5)
    assert alive(mark) == []
    assert finished.warnings == ("processes that it left running were ended",)


@pytest.mark.slow
def test_a_timeout_ends_a_tree_of_sixteen_some_deaf_and_some_daemonised(tmp_path: Path) -> None:
    mark = token()
    began = time.monotonic()
    after = (
        "for n in 1 2 3 4; do (trap '' TERM; while :; do sleep 1; done) & done\n"
        f"for n in 1 2 3 4; do {SLEEPER} & done\n"
        f"(setsid bash -c '{SLEEPER} & wait' x $1) & {SLEEPER}"
    )
    finished = daemons(tmp_path, mark, ["plain", "bare"] * 3, after, 2)
    assert finished.how == "timeout"
    assert alive(mark) == []
    assert time.monotonic() - began < 60


def test_a_program_that_heeds_the_asking_is_not_killed(tmp_path: Path) -> None:
    finished = shell("trap 'echo cleaned up; exit 9' TERM; echo up; while :; do sleep 0.05; done", timeout_s=0.5)
    assert (finished.how, finished.status, finished.stdout) == ("timeout", 9, b"up\ncleaned up\n")
    assert finished.warnings == ()


def test_a_child_is_given_the_grace_although_the_program_ended_at_once(tmp_path: Path) -> None:
    done = tmp_path / "done"
    script = (
        f"(trap 'sleep 0.3; echo child > {done}; exit' TERM; echo up; while :; do sleep 0.05; done) &"
        "trap 'exit 1' TERM; while :; do sleep 0.05; done"
    )
    finished = shell(script, timeout_s=0.5)
    assert finished.how == "timeout"
    assert done.read_text() == "child\n"


@pytest.mark.slow
def test_a_program_that_is_deaf_to_the_asking_is_killed() -> None:
    mark = token()
    finished = shell("trap '' TERM; while :; do sleep 0.1; done", mark, timeout_s=0.2)
    assert (finished.how, finished.status) == ("timeout", 128 + signal.SIGKILL)
    assert alive(mark) == []


@pytest.mark.slow
def test_a_stopped_program_is_ended_too() -> None:
    mark = token()
    finished = shell("kill -STOP $$", mark, timeout_s=0.2)
    assert finished.how == "timeout"
    assert alive(mark) == []


def test_a_cancel_from_another_thread_ends_the_tree() -> None:
    mark = token()
    cancel = Cancel()
    threads: list[threading.Thread] = []

    def hear(name: str, data: bytes) -> None:
        thread = threading.Thread(target=cancel.cancel)
        thread.start()
        threads.append(thread)

    finished = shell(f"{SLEEPER} & echo up; {SLEEPER}", mark, cancel=cancel, on_output=hear)
    for thread in threads:
        thread.join()
    assert (finished.how, finished.stdout) == ("cancelled", b"up\n")
    assert alive(mark) == []


def test_a_cancel_that_was_given_before_the_start_ends_the_program_at_once() -> None:
    cancel = Cancel()
    cancel.cancel()
    assert shell("sleep 300", cancel=cancel).how == "cancelled"


def test_a_cancel_after_the_end_changes_nothing() -> None:
    cancel = Cancel()
    finished = shell("true", cancel=cancel)
    cancel.cancel()
    assert (finished.how, finished.status) == ("exit", 0)


def test_an_interrupt_leaves_nothing_alive() -> None:
    mark = token()
    program = f"""
import os, signal
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
script = "setsid bash -c 'exec -a {mark} sleep 300' & echo up; exec -a {mark} sleep 300"
env = {{"HOME": "/private/{mark}"}}
def interrupt(name, data):
    os.kill(os.getpid(), signal.SIGINT)
command = Command(
    "/bin/bash", ("bash", "-c", script), env, 60, 99, Cancel(), on_output=interrupt, mark="/private/{mark}"
)
try:
    run(command)
except KeyboardInterrupt:
    print("interrupted")
"""
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": PATH}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=env)
    assert done.stdout == b"interrupted\n"
    assert alive(mark) == []


def test_a_fork_bomb_is_ended() -> None:
    mark = token()
    script = 'n=0; while [ $n -lt 60 ]; do bash -c "$BOMB" bomb $1 & n=$((n + 1)); done; wait'
    bomb = "trap '' TERM; while :; do sleep 0.2 & wait; done"
    finished = shell(script, mark, env={"BOMB": bomb}, timeout_s=0.5)
    assert finished.how == "timeout"
    assert alive(mark) == []


def test_children_of_the_embedding_application_are_neither_ended_nor_reaped() -> None:
    sleeper = subprocess.Popen(["sleep", "300"])
    daemon = subprocess.Popen(["sleep", "300"], start_new_session=True)
    quick = subprocess.Popen(["sh", "-c", "exit 7"])
    try:
        shell("sleep 300 & exit 0")
        shell("sleep 300 & sleep 300", timeout_s=0.2)
        assert sleeper.poll() is None
        assert daemon.poll() is None
        assert quick.wait() == 7
    finally:
        for one in (sleeper, daemon):
            one.kill()
            one.wait()


def test_one_run_does_not_end_what_another_one_has_started(tmp_path: Path) -> None:
    mark = token()
    stop = threading.Event()
    others: list[Finished] = []

    def others_run() -> None:
        while not stop.is_set():
            others.append(daemons(tmp_path, token(), ["plain"], "true", 60))

    thread = threading.Thread(target=others_run)
    thread.start()
    try:
        # Its daemon writes only after the other thread's runs have come and gone a few times.
        script = f"""
        setsid bash -c 'for n in 1 2 3 4 5 6; do sleep 0.1; done; echo survived > $OUT' {mark} &
        until [ -s $OUT ]; do sleep 0.02; done; cat $OUT"""
        finished = shell(script, mark, env={"OUT": str(tmp_path / "out")})
    finally:
        stop.set()
        thread.join()
    assert finished.stdout == b"survived\n"
    assert [one.status for one in others] == [0] * len(others)
    assert alive(mark) == []


def test_orphans_that_end_meanwhile_are_reaped_during_a_long_run() -> None:
    cancel = Cancel()
    counts: list[int] = []

    def hear(name: str, data: bytes) -> None:
        rows = proc.rows(proc.everybody()).values()
        counts.append(sum(row.dead and row.parent == os.getpid() for row in rows))
        if counts[-1] == 0 and len(counts) > 30:
            cancel.cancel()

    start = "sleep 0.2; for n in 1 2 3 4 5; do (setsid true &); done"
    finished = shell(f"{start}; while :; do echo look; sleep 0.05; done", cancel=cancel, on_output=hear, timeout_s=20)
    assert finished.how == "cancelled"


def test_this_process_takes_orphans_in_from_its_first_run_on_and_a_fork_of_it_too() -> None:
    program = """
import ctypes, os
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
def takes_in():
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(found), 0, 0, 0)
    return found.value
during = []
def look(*_):
    during.append(takes_in())
command = Command("/bin/sh", ("sh", "-c", "echo x"), {}, 60, 99, Cancel(), on_output=look)
before = takes_in()
run(command)
print(before, during, flush=True)
pid = os.fork()
if pid == 0:
    before = takes_in()
    run(command)
    print(before, during, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": PATH}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=env)
    assert done.stdout.decode().splitlines() == ["0 [1]", "0 [1, 1]"]


def test_a_runtime_inside_of_a_run_ends_its_own_tree_and_is_ended_with_it(tmp_path: Path) -> None:
    mark = token()
    inner = f"""
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
def shell(script):
    env = {{"HOME": "/private/{mark}"}}
    return run(Command("/bin/bash", ("bash", "-c", script), env, 60, 99, Cancel(), mark="/private/{mark}"))
ran = shell("setsid bash -c 'exec -a {mark} sleep 300' & echo inner")
print(ran.stdout.decode().strip(), ran.warnings, flush=True)
shell("setsid bash -c 'exec -a {mark} sleep 300' & kill -KILL $PPID; exec -a {mark} sleep 300")
"""
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = Command(sys.executable, (sys.executable, "-c", inner), env, 60, 4096, Cancel())
    finished = run(command)
    assert isinstance(finished, Finished)
    assert (finished.status, finished.stderr) == (128 + signal.SIGKILL, b"")
    assert finished.stdout == b"inner ('processes that it left running were ended',)\n"
    assert alive(mark) == []


def test_what_a_program_had_started_before_it_was_tagged_is_caught_up_with() -> None:
    script = "setsid sleep 300 & sleep 300 & (sleep 300 & wait) & echo $! up; wait"
    leader = subprocess.Popen(["bash", "-c", script], start_new_session=True, stdout=subprocess.PIPE)
    tree_of_it = tree.Tree(leader.pid)
    caught: list[int] = []

    def catch(pid: int) -> None:
        caught.append(pid)

    try:
        assert leader.stdout is not None
        subshell = int(leader.stdout.readline().split()[0])
        tree_of_it.claim(catch)
        rows = proc.rows(proc.everybody()).values()
        below = {row.pid for row in rows if row.parent in (leader.pid, subshell)}
        assert len(below) >= 3
        assert set(caught) >= below
        caught.clear()
        tree_of_it.claim(catch)
        assert caught == [leader.pid]
    finally:
        tree_of_it.kill()
        leader.communicate()
        tree_of_it.leader_reaped()
        assert tree_of_it.end() is None


def test_a_recycled_number_is_never_signalled() -> None:
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        row = proc.row(stranger.pid)
        assert row is not None
        earlier = proc.Row(row.pid, row.state, row.parent, row.group, row.session, row.start - 1)
        tree._send(earlier, signal.SIGKILL)
        with pytest.raises(subprocess.TimeoutExpired):
            stranger.wait(0.1)
    finally:
        stranger.kill()
        stranger.wait()

"""How a sandboxed program ends, and what of it is then left (Spec 04 section 3)."""

from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import threading

import pytest

from hcpx.sandbox import cgroup
from hcpx.sandbox.job import Ended, NotStarted
from tests.sandbox_isolation.bench import Bench, processes

pytestmark = pytest.mark.parametrize("bench", ["bubblewrap", "landlock"], indirect=True)
FLOOD_MB = int(os.environ.get("HCPX_FLOOD_MB", "128"))
RUNS = int(os.environ.get("HCPX_RUNS", "40"))


def ended(outcome: Ended | NotStarted) -> Ended:
    assert isinstance(outcome, Ended), outcome
    return outcome


def test_status_and_streams_come_back(bench: Bench) -> None:
    told = ended(bench.backend.run(bench.shell("echo out; echo err >&2; exit 7")))
    assert (told.how, told.exit_code, told.stdout, told.stderr) == ("exit", 7, b"out\n", b"err\n")


@pytest.mark.parametrize("status", [1, 2, 124, 125, 126, 127, 255])
def test_a_programs_own_status_is_never_taken_for_ours(bench: Bench, status: int) -> None:
    told = ended(bench.backend.run(bench.shell(f"exit {status}")))
    assert (told.how, told.exit_code) == ("exit", status)


def test_a_signal_is_128_and_its_number(bench: Bench) -> None:
    told = ended(bench.backend.run(bench.shell("echo '{\"partial\":true}'; kill -9 $$")))
    assert (told.how, told.exit_code, told.stdout) == ("exit", 137, b'{"partial":true}\n')


def test_stdin_is_empty_and_there_is_no_terminal(bench: Bench) -> None:
    told = ended(bench.backend.run(bench.shell("cat; tty; (: </dev/tty) 2>/dev/null || echo none")))
    assert told.stdout == b"not a tty\nnone\n"


def test_a_grandchild_that_holds_the_pipe_is_not_waited_for(bench: Bench) -> None:
    word = f"313.{os.getpid()}"
    told = ended(bench.backend.run(bench.shell(f"sleep {word} & echo '{{\"ok\":true}}'")))
    assert (told.how, told.exit_code, told.stdout) == ("exit", 0, b'{"ok":true}\n')
    assert processes(word) == []


def test_a_flood_on_one_stream_does_not_block_the_other(bench: Bench) -> None:
    told = ended(bench.backend.run(bench.shell("head -c 2000000 /dev/zero >&2; echo '{\"n\":1}'", keep=65536)))
    assert (told.stdout, len(told.stderr), told.stderr_size) == (b'{"n":1}\n', 65536, 2_000_000)


@pytest.mark.slow
def test_memory_stays_flat_under_a_flood(bench: Bench) -> None:
    resident: list[int] = []

    def look(*_: object) -> None:
        resident.append(int(pathlib.Path("/proc/self/statm").read_text().split()[1]))

    job = bench.shell(f"head -c {FLOOD_MB}M /dev/zero", keep=1 << 20, timeout_s=300, on_output=look)
    told = ended(bench.backend.run(job))
    assert (told.stdout_size, len(told.stdout)) == (FLOOD_MB << 20, 1 << 20)
    assert (max(resident) - resident[0]) * resource.getpagesize() < 16 << 20


TREE = """
i=0
while [ $i -lt 4 ]; do
    sleep $1 &
    sh -c 'trap "" TERM HUP INT; while :; do sleep '$1'; done' &
    setsid sleep $1 &
    setsid sh -c 'trap "" TERM; (sleep '$1' &) ; sleep '$1 &
    i=$((i + 1))
done
trap "" TERM
wait
"""


@pytest.mark.slow
def test_a_timeout_ends_the_whole_tree_deaf_and_daemonised(bench: Bench) -> None:
    word = f"317.{os.getpid()}"
    told = ended(bench.backend.run(bench.shell(TREE, word, timeout_s=1)))
    assert (told.how, told.exit_code) == ("timeout", 124)
    assert processes(word) == []


@pytest.mark.slow
def test_at_a_timeout_the_program_itself_is_asked_to_end(bench: Bench) -> None:
    script = "trap 'echo asked; exit 0' TERM; sleep 30 & wait"
    told = ended(bench.backend.run(bench.shell(script, timeout_s=0.5)))
    assert (told.how, told.exit_code, told.stdout) == ("timeout", 124, b"asked\n")


def test_a_cancel_from_another_thread_ends_it(bench: Bench) -> None:
    word = f"319.{os.getpid()}"
    job = bench.shell(f"echo up; exec sleep {word}", on_output=lambda *_: job.cancel.cancel())
    told = ended(bench.backend.run(job))
    assert (told.how, told.exit_code) == ("cancelled", 130)
    assert processes(word) == []


def test_what_was_cancelled_before_the_start_never_runs(bench: Bench) -> None:
    job = bench.shell("echo ran >ran")
    job.cancel.cancel()
    assert ended(bench.backend.run(job)).how == "cancelled"
    assert os.listdir(bench.workspace) == []


def test_output_is_passed_on_as_it_comes(bench: Bench) -> None:
    pieces: list[tuple[str, bytes]] = []
    os.mkfifo(os.path.join(bench.workspace, "gate"))
    os.chmod(os.path.join(bench.workspace, "gate"), 0o666)

    def first(name: str, data: bytes) -> None:
        pieces.append((name, data))
        if len(pieces) == 1:  # the program waits until the first piece was seen
            pathlib.Path(bench.workspace, "gate").write_text("go\n")

    ended(bench.backend.run(bench.shell("echo one; read -r _ <gate; echo two", on_output=first)))
    assert pieces == [("stdout", b"one\n"), ("stdout", b"two\n")]


def test_many_at_once_do_not_disturb_each_other(bench: Bench) -> None:
    outcomes: list[bytes] = []

    def one(number: int) -> None:
        outcomes.append(ended(bench.backend.run(bench.shell(f"sleep 0.1; echo {number}"))).stdout)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [b"%d\n" % number for number in range(8)]


def _groups() -> list[str]:
    found = [name for site in cgroup.find().sites for name in os.listdir(site.folder)]
    return [name for name in found if name.startswith(f"hcpx-{os.getpid()}-")]


@pytest.mark.slow
def test_many_runs_leave_nothing_behind(bench: Bench) -> None:
    word = f"leaves-nothing-{os.getpid()}"

    def left() -> tuple[object, ...]:
        return (
            pathlib.Path("/proc/self/mountinfo").read_text(),
            len(os.listdir("/proc/self/fd")),
            threading.active_count(),
            _groups(),
            processes(word),
            sorted(str(path) for path in pathlib.Path(bench.folder).rglob("*")),
            [path.stat().st_size for path in pathlib.Path(bench.state, "running").iterdir()],
        )

    def one() -> None:
        job = bench.shell("(setsid sleep 60 &); mkdir -p $HOME/x; echo y >$HOME/x/y", word)
        ended(bench.backend.run(job))
        job.directory.close()

    one()
    before = left()
    for _ in range(RUNS):
        one()
    assert left() == before


@pytest.mark.parametrize("error", [OSError(5, "gone"), BrokenPipeError(), ValueError("closed")], ids=repr)
def test_trouble_after_the_program_was_let_go_never_says_that_nothing_was_started(
    bench: Bench, error: Exception
) -> None:
    def show(_stream: str, _data: bytes) -> None:
        raise error

    word = f"317.{os.getpid()}"
    with pytest.raises(type(error)):
        bench.backend.run(bench.shell(f"echo made >kept; echo shown; sleep {word}", on_output=show))
    assert pathlib.Path(bench.workspace, "kept").read_text() == "made\n"
    assert processes(word) == []


def test_without_descriptors_the_answer_is_that_nothing_was_started(bench: Bench) -> None:
    job = bench.shell("echo made >kept")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    taken: list[int] = []
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(0))
        os.close(taken.pop())  # one is enough for a look at the program, and too few for a socket pair
        told = bench.backend.run(job)
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert told == NotStarted("sandbox_unavailable", "Too many open files")
    assert os.listdir(bench.workspace) == []

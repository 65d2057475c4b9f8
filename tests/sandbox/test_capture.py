from __future__ import annotations

import resource
import threading

import pytest

from hcpx.sandbox.spawn import Command, Finished, run
from hcpx.vocabulary.invocation import Cancel
from tests.sandbox.running import PYTHON, SLEEPER, alive, command, shell, token


def written(program: str, keep: int) -> Finished:
    finished = run(Command(PYTHON, ("python", "-I", "-S", "-c", program), {}, 60, keep, Cancel()))
    assert isinstance(finished, Finished)
    return finished


def test_both_streams_are_drained_at_once() -> None:
    program = "import os\nfor _ in range(40): os.write(2, b'e' * 65536)\nos.write(1, b'{\"n\":1}')"
    finished = written(program, 1024)
    assert (finished.stdout, finished.stderr) == (b'{"n":1}', b"e" * 1024)
    assert (finished.stdout_size, finished.stderr_size) == (7, 40 * 65536)


@pytest.mark.parametrize("keep", [0, 1, 65535, 65536, 65537, 200_000])
def test_the_head_is_kept_and_the_rest_is_counted(keep: int) -> None:
    program = "import os\nfor n in range(150): os.write(1, b'%09d\\n' % n * 100)"
    whole = b"".join(b"%09d\n" % n * 100 for n in range(150))
    finished = written(program, keep)
    assert finished.stdout == whole[:keep]
    assert finished.stdout_size == len(whole)


@pytest.mark.slow
def test_memory_stays_flat_under_200_megabytes() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    program = "import os\nfor _ in range(3200): os.write(1, b'x' * 65536)"
    finished = written(program, 1_000_000)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (finished.status, finished.stdout, finished.stdout_size) == (0, b"x" * 1_000_000, 3200 * 65536)
    assert after - before < 20_000  # kibibytes


def test_every_read_is_handed_on_while_the_program_runs() -> None:
    seen: list[tuple[str, bytes]] = []
    heard = threading.Event()
    cancel = Cancel()

    def hear(name: str, data: bytes) -> None:
        seen.append((name, data))
        if b"ready" in data:
            heard.set()
            cancel.cancel()

    finished = shell("echo ready; exec sleep 300", cancel=cancel, on_output=hear)
    assert heard.is_set()
    assert seen == [("stdout", b"ready\n")]
    assert finished.how == "cancelled"


def test_what_is_beyond_the_cap_is_handed_on_too() -> None:
    seen: list[bytes] = []
    finished = shell("printf '%0100d' 0", keep=10, on_output=lambda _, data: seen.append(data))
    assert (finished.stdout, b"".join(seen)) == (b"0" * 10, b"0" * 100)


def test_a_callback_that_raises_leaves_nothing_alive() -> None:
    mark = token()

    def fail(name: str, data: bytes) -> None:
        raise LookupError(name)

    with pytest.raises(LookupError):
        run(command(f"{SLEEPER} & echo x; {SLEEPER}", mark, on_output=fail))
    assert alive(mark) == []

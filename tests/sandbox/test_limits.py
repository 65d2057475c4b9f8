from __future__ import annotations

import os
import resource
import shutil
from typing import TYPE_CHECKING

import pytest

from hcpx.sandbox import limits
from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.job import Ended, Job, NotStarted
from hcpx.sandbox.workspace import Folder
from hcpx.vocabulary.invocation import Cancel, Program
from hcpx.vocabulary.policy import Limits
from tests.sandbox.running import PATH, PYTHON

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024 * 1024
# The limits come a moment after the start: a program that wants to see them waits for them.
WAIT = """
import os, resource
while resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY: pass
"""


def ran(tmp_path: Path, program: str, wanted: Limits, path: str = PYTHON) -> Ended | NotStarted:
    native = Native(str(tmp_path / "calls"))
    folder = Folder("/", os.open("/", os.O_PATH))
    try:
        return native.run(
            Job(
                program=Program(path),
                name="python",
                argv=("-I", "-S", "-c", program),
                env={"PATH": PATH},
                pack_root="/",
                directory=folder,
                writable=False,
                limits=wanted,
                keep=65536,
                cancel=Cancel(),
            )
        )
    finally:
        folder.close()
        native.close()


def printed(tmp_path: Path, program: str, wanted: Limits) -> str:
    ended = ran(tmp_path, program, wanted)
    assert isinstance(ended, Ended)
    assert ended.stderr == b""
    return ended.stdout.decode()


def test_every_limit_is_on_the_program_soft_and_hard(tmp_path: Path) -> None:
    names = "RLIMIT_DATA RLIMIT_NOFILE RLIMIT_FSIZE RLIMIT_CORE"
    program = f"{WAIT}print(*[resource.getrlimit(getattr(resource, n)) for n in '{names}'.split()])"
    assert printed(tmp_path, program, Limits(memory_mb=300, files=77, file_mb=5)) == (
        f"{(300 * MIB,) * 2} {(77, 77)} {(5 * MIB,) * 2} {(0, 0)}\n"
    )


def test_memory_is_bounded(tmp_path: Path) -> None:
    program = f"{WAIT}try: bytearray({200 * MIB})\nexcept MemoryError: print('bounded')"
    assert printed(tmp_path, program, Limits(memory_mb=100)) == "bounded\n"


def test_a_file_that_grows_too_long_is_an_error_of_the_program(tmp_path: Path) -> None:
    program = (
        f"{WAIT}fd = os.open(os.environ['TMPDIR'] + '/file', os.O_CREAT | os.O_WRONLY)\n"
        "try:\n    for _ in range(4): os.write(fd, bytes(1 << 20))\n"
        "except OSError as problem: print(problem.strerror)"
    )
    heedless = "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    ended = ran(tmp_path, heedless + program, Limits(file_mb=2))
    assert isinstance(ended, Ended)
    assert ended.stdout == b"File too large\n"


def test_a_limit_above_our_own_is_held_at_our_own(tmp_path: Path) -> None:
    program = f"{WAIT}print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    own = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert printed(tmp_path, program, Limits(files=own * 2)) == f"{(own, own)}\n"


def test_what_held_is_named_and_a_looser_bound_on_processes_is_not(tmp_path: Path) -> None:
    ended = ran(tmp_path, "pass", Limits(timeout_s=9, output_bytes=10, memory_mb=300, files=77, file_mb=5))
    assert isinstance(ended, Ended)
    assert ended.enforced.limits == {
        "timeout_s": 9,
        "output_bytes": 10,
        "memory_mb": 300,
        "files": 77,
        "file_mb": 5,
    }
    assert ended.enforced.limits == limits.holding(
        Limits(timeout_s=9, output_bytes=10, memory_mb=300, files=77, file_mb=5)
    )


def test_a_limit_on_processes_that_was_asked_for_is_refused_for_root(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root is not bound by it")
    assert ran(tmp_path, "pass", Limits(processes=9, asked=("processes",))) == NotStarted(
        "sandbox_unavailable", "the limit processes does not bind root without a sandbox"
    )


def test_a_limit_on_processes_that_was_asked_for_binds_a_user(tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root is not bound by it")
    program = f"""
import time
{WAIT}
while resource.getrlimit(resource.RLIMIT_NPROC)[0] == resource.RLIM_INFINITY: pass
born = 0
try:
    while born < 500:
        if os.fork() == 0:
            time.sleep(60)
        born += 1
except BlockingIOError:
    print("bounded")
"""
    ended = ran(tmp_path, program, Limits(processes=9, asked=("processes",)))
    assert isinstance(ended, Ended)
    assert (ended.stdout, ended.enforced.limits["processes"]) == (b"bounded\n", 9)


def test_a_limit_that_was_asked_for_is_refused_where_the_program_changes_its_user(tmp_path: Path) -> None:
    path = tmp_path / "program"
    shutil.copy("/bin/true", path)
    path.chmod(0o4755)
    answer = ran(tmp_path, "pass", Limits(memory_mb=9, asked=("memory_mb",)), str(path))
    assert answer == NotStarted("sandbox_unavailable", "the limit memory_mb cannot be put on a setuid program")
    assert isinstance(ran(tmp_path, "pass", Limits(), str(path)), Ended)


def test_a_limit_that_the_machine_holds_is_no_refusal_when_it_was_asked_for(tmp_path: Path) -> None:
    asked = ("timeout_s", "output_bytes", "memory_mb", "files", "file_mb", "concurrency")
    assert isinstance(ran(tmp_path, "pass", Limits(asked=asked)), Ended)

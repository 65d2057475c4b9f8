from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from hcpx.sandbox.job import NotStarted
from hcpx.sandbox.spawn import Command, Finished, run
from hcpx.vocabulary.invocation import Cancel, Enforced
from tests.sandbox.running import PATH, PYTHON, command, descriptors, shell

if TYPE_CHECKING:
    from pathlib import Path


def python(program: str, **options: object) -> Finished:
    given = {"env": {}, "timeout_s": 60, "keep": 65536, "cancel": Cancel(), **options}
    finished = run(Command(PYTHON, ("python", "-I", "-S", "-c", program), **given))  # pyright: ignore[reportArgumentType]
    assert isinstance(finished, Finished)
    return finished


def test_the_program_gets_exactly_its_arguments_through_no_shell() -> None:
    odd = ("", " ", "$HOME", "a\nb", "'\"\\", "*", "--", "-x", "é\U0001f600", "\udcff", "#", "\x01\x7f")
    finished = run(
        Command(PYTHON, ("name", "-c", "import sys; print(ascii(sys.argv[1:]))", *odd), {}, 60, 65536, Cancel())
    )
    assert isinstance(finished, Finished)
    assert finished.stdout.decode() == ascii(list(odd)) + "\n"


def test_its_own_name_is_the_first_argument() -> None:
    finished = run(Command("/bin/bash", ("other name", "-c", "echo $0"), {}, 60, 100, Cancel()))
    assert isinstance(finished, Finished)
    assert finished.stdout == b"other name\n"


def test_the_environment_is_exactly_what_was_given() -> None:
    finished = python(
        "import os, json; print(json.dumps(dict(os.environ)))",
        env={"A": "1", "B": "two words", "C": "", "D": "x=y", "E": "é\n"},
    )
    # Python itself sets LC_CTYPE where nothing tells the locale.
    expected = {"A": "1", "B": "two words", "C": "", "D": "x=y", "E": "é\n", "LC_CTYPE": "C.UTF-8"}
    assert json.loads(finished.stdout) == expected


def test_stdin_is_empty_and_nothing_is_a_terminal() -> None:
    finished = shell("cat; for fd in 0 1 2; do [ -t $fd ] && echo tty; done; true")
    assert (finished.status, finished.stdout) == (0, b"")


def test_the_program_leads_a_session_of_its_own_without_a_terminal() -> None:
    finished = python(
        "import os; print(os.getsid(0) == os.getpid() == os.getpgid(0), end=' ')\n"
        "try: os.open('/dev/tty', os.O_RDWR)\n"
        "except OSError: print('none')"
    )
    assert finished.stdout == b"True none\n"


def test_no_descriptor_but_the_first_three_is_inherited() -> None:
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
    pair = socket.socketpair()
    try:
        for fd in opened:
            os.set_inheritable(fd, True)
        finished = shell("for fd in /proc/$$/fd/*; do [ -e $fd ] && printf '%s ' ${fd##*/}; done; true")
    finally:
        for fd in opened:
            os.close(fd)
        for one in pair:
            one.close()
    numbers = {int(number) for number in finished.stdout.split()}
    assert numbers - {255} == {0, 1, 2}  # 255 is the shell's own copy


def test_a_descriptor_that_is_passed_keeps_its_number() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"through the pipe")
    os.close(writer)
    try:
        finished = python(f"import os; print(os.read({reader}, 100).decode())", pass_fds=(reader,))
    finally:
        os.close(reader)
    assert finished.stdout == b"through the pipe\n"


def test_stdin_can_be_a_descriptor_of_ours() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"given")
    os.close(writer)
    try:
        finished = python("import sys; print(sys.stdin.read())", stdin=reader)
    finally:
        os.close(reader)
    assert finished.stdout == b"given\n"


def test_the_working_directory_is_the_opened_one_even_where_its_name_now_leads_elsewhere(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    fd = os.open(first, os.O_PATH | os.O_DIRECTORY)
    try:
        first.rename(tmp_path / "moved")
        first.symlink_to(second)
        finished = shell("pwd -P", directory=fd)
    finally:
        os.close(fd)
    assert finished.stdout == bytes(tmp_path / "moved") + b"\n"


def test_signals_are_handled_by_default_though_this_process_ignores_sigpipe() -> None:
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
    finished = shell("grep SigIgn /proc/self/status")
    assert int(finished.stdout.split()[1], 16) & (1 << (signal.SIGPIPE - 1)) == 0


def test_a_signal_blocked_in_the_calling_thread_is_not_blocked_in_the_program() -> None:
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGINT})
    try:
        finished = shell("grep SigBlk /proc/self/status")
        kept = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    assert finished.stdout.split()[1] == b"0000000000000000"
    assert kept >= {signal.SIGCHLD, signal.SIGINT}


def test_a_blocked_signal_that_would_end_this_process_is_left_to_whoever_waits_for_it() -> None:
    program = """
import os, signal
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
os.kill(os.getpid(), signal.SIGUSR2)
run(Command("/bin/true", ("true",), {}, 60, 99, Cancel()))
print(signal.sigwait({signal.SIGUSR2}).name)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=_with_source())
    assert done.stdout == b"SIGUSR2\n"


@pytest.mark.parametrize("number", [0, 1, 3, 124, 127, 255])
def test_the_status_is_the_programs_own(number: int) -> None:
    finished = shell(f"exit {number}")
    assert (finished.how, finished.status, finished.warnings) == ("exit", number, ())


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "PIPE"])
def test_a_program_killed_by_a_signal_has_status_128_and_its_number(name: str) -> None:
    finished = shell(f"echo '{{\"partial\":true}}'; kill -{name} $$")
    assert finished.status == 128 + signal.Signals[f"SIG{name}"]
    assert finished.stdout == b'{"partial":true}\n'


def test_a_status_taken_by_somebody_else_is_never_a_success() -> None:
    finished = shell("echo out", on_output=lambda *_: os.wait() and None)
    assert (finished.how, finished.status, finished.stdout) == ("exit", 255, b"out\n")
    assert finished.warnings == ("its exit status is unknown: another part of the runtime's process took it",)


def test_an_application_that_reaps_every_child_at_once_costs_the_status_and_nothing_else() -> None:
    def reap(*_: object) -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    before = signal.signal(signal.SIGCHLD, reap)
    try:
        answers = [shell("echo out; setsid sleep 300 & exit 0") for _ in range(20)]
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert {answer.stdout for answer in answers} == {b"out\n"}
    assert {answer.status for answer in answers} <= {0, 255}


def test_nothing_is_started_where_this_process_ignores_its_children() -> None:
    program = """
import signal
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
command = Command("/bin/sh", ("sh", "-c", "echo ran >&2"), {}, 60, 99, Cancel())
before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(run(command))
signal.signal(signal.SIGCHLD, before)
print(run(command))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(run(command))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=_with_source())
    why = "this process ignores SIGCHLD, so no exit status can be had"
    assert done.stdout.decode().splitlines() == [
        repr(NotStarted("sandbox_unavailable", why)),
        "Finished('exit', 0)",
        repr(NotStarted("sandbox_unavailable", why)),
    ]


def test_it_works_in_a_process_whose_own_first_three_descriptors_are_closed() -> None:
    program = """
import os, sys
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
result = os.dup(1)
os.set_inheritable(result, False)
os.dup2(result, 9)
for fd in (0, 1, 2, result):
    os.close(fd)
good = run(Command("/bin/sh", ("sh", "-c", "cat; echo out; echo err >&2"), {}, 60, 99, Cancel()))
bad = run(Command("/nowhere", ("sh",), {}, 60, 99, Cancel()))
os.write(9, repr((good.status, good.stdout, good.stderr, bad.why)).encode())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=_with_source())
    assert done.stdout == repr((0, b"out\n", b"err\n", "no such file")).encode()


def test_a_hundred_runs_leave_no_descriptor_and_no_child_behind() -> None:
    shell("true")
    before = descriptors()
    for number in range(100):
        shell("exit 3" if number % 2 else "echo x")
        run(Command("/nowhere", ("x",), {}, 60, 99, Cancel()))
    assert descriptors() == before


def test_many_threads_run_programs_at_once_and_each_gets_its_own_output() -> None:
    answers: dict[int, bytes] = {}

    def one(number: int) -> None:
        for turn in range(5):
            answers[number * 100 + turn] = shell(f"echo {number * 100 + turn}; echo e >&2").stdout

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n * 100 + t: b"%d\n" % (n * 100 + t) for n in range(16) for t in range(5)}


def test_a_busy_file_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"#!/bin/sh\necho ran\n")
    path.chmod(0o700)
    busy = os.open(path, os.O_WRONLY)
    release = threading.Timer(0.01, os.close, (busy,))
    release.start()
    try:
        finished = run(Command(str(path), ("program",), {}, 60, 99, Cancel()))
    finally:
        release.join()
    assert isinstance(finished, Finished)
    assert finished.stdout == b"ran\n"


def test_a_file_that_stays_busy_is_named_so(tmp_path: Path) -> None:
    path = tmp_path / "program"
    with path.open("wb") as file:
        file.write(b"#!/bin/sh\n")
        path.chmod(0o700)
        answer = run(Command(str(path), ("program",), {}, 60, 99, Cancel()))
    assert answer == NotStarted("not_executable", "Text file busy")


def test_a_failed_start_leaves_no_child_behind() -> None:
    answer = run(Command("/nowhere", ("x",), {}, 60, 99, Cancel()))
    assert answer == NotStarted("not_executable", "no such file")
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_no_room_for_a_pipe_is_a_value() -> None:
    program = """
import os, resource
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
command = Command("/bin/true", ("true",), {}, 60, 99, Cancel())
run(command)
answers = set()
for limit in range(4, 24):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, 4096))
    answer = run(command)
    answers.add(getattr(answer, "why", None) or answer.status)
    left = len(os.listdir("/proc/self/fd")) if limit > 3 else 0
print(sorted(map(str, answers)))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no children", left)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=_with_source())
    assert done.stdout.decode().splitlines() == [
        "['0', 'no process can be started: Too many open files']",
        "no children 4",
    ]


def test_neither_arguments_nor_environment_nor_output_show_in_a_repr() -> None:
    given = command("echo s3cret-out", env={"TOKEN": "s3cret-env"})
    finished = run(given)
    assert isinstance(finished, Finished)
    ended = finished.ended(Enforced("x", "x", (), {}))
    assert "s3cret" not in repr(given) + repr(finished) + repr(ended)


def test_the_start_is_announced_to_the_interpreters_audit_hooks_without_the_environment() -> None:
    program = """
import sys
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel
sys.addaudithook(lambda event, args: event == "subprocess.Popen" and print(args))
run(Command("/bin/true", ("true", "x"), {"TOKEN": "s3cret"}, 60, 99, Cancel()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=_with_source())
    assert done.stdout.decode() == "('/bin/true', [b'true', b'x'], '/', None)\n"


def test_the_answer_comes_at_once_although_a_grandchild_holds_the_pipe() -> None:
    began = time.monotonic()
    finished = shell("sleep 300 & echo '{\"ok\":true}'")
    assert time.monotonic() - began < 100  # it did not wait for the sleeper
    assert (finished.how, finished.status, finished.stdout) == ("exit", 0, b'{"ok":true}\n')
    assert finished.warnings == ("processes that it left running were ended",)


def test_what_a_child_still_writes_just_after_the_program_ended_is_there() -> None:
    finished = shell("(read -t 0.02 _ < <(sleep 1); echo late) & echo early")
    assert finished.stdout == b"early\nlate\n"


def _with_source() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": PATH}

from __future__ import annotations

import os
import subprocess

from hcpx.sandbox import proc


def test_a_name_full_of_brackets_and_blanks_does_not_confuse_the_row() -> None:
    program = "import os\nopen('/proc/self/comm', 'w').write(') S 1 (x) ')\nprint(1, flush=True)\ninput()"
    child = subprocess.Popen(["/usr/bin/python3", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        row = proc.row(child.pid)
        assert row is not None
        assert (row.parent, row.session) == (os.getpid(), os.getsid(0))
    finally:
        child.kill()
        child.communicate()


def test_a_process_that_is_not_there_has_no_row() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert proc.row(child.pid) is None


def test_what_was_born_since_is_among_the_answer() -> None:
    first = subprocess.Popen(["sleep", "300"])
    second = subprocess.Popen(["sleep", "300"])
    try:
        assert second.pid in set(proc.born_since(first.pid))
    finally:
        for one in (first, second):
            one.kill()
            one.wait()


def test_an_environment_is_searched_whole() -> None:
    env = {"FILLER": "x" * 100_000, "HOME": "/the/mark/home"}
    child = subprocess.Popen(
        ["/usr/bin/python3", "-c", "print(1, flush=True)\ninput()"],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert child.stdout is not None
        child.stdout.readline()
        assert proc.holds(child.pid, b"/the/mark")
        assert not proc.holds(child.pid, b"/another/mark")
    finally:
        child.kill()
        child.communicate()
    assert not proc.holds(child.pid, b"/the/mark")

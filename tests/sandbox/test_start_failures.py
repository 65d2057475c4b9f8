from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hcpx.sandbox.job import NotStarted
from hcpx.sandbox.spawn import Command, run
from hcpx.vocabulary.invocation import Cancel


def started(path: Path | str, *args: str, env: dict[str, str] | None = None, directory: int = -1) -> object:
    command = Command(str(path), ("name", *args), env or {}, 60, 999, Cancel(), directory=directory)
    answer = run(command)
    return answer if isinstance(answer, NotStarted) else answer.status


def not_executable(why: str) -> NotStarted:
    return NotStarted("not_executable", why)


SCRIPTS = {
    "no run bit": (0o600, b"#!/bin/sh\n"),
    "missing interpreter /no/such/sh": (0o700, b"#!/no/such/sh -e\n"),
    "CR LF in the first line": (0o700, b"#!/bin/sh\r\nexit 0\r\n"),
    "no interpreter in the first line": (0o700, b"#!  \nexit 0\n"),
    "interpreter /etc/passwd has no run bit": (0o700, b"#!/etc/passwd\n"),
    "interpreter /etc has no run bit": (0o700, b"#!/etc\n"),
    "wrong format: neither a program for this machine nor a script with a #! line": (0o700, b"exit 0\n"),
}


@pytest.mark.parametrize("why", SCRIPTS)
def test_what_is_wrong_with_a_file_is_named(why: str, tmp_path: Path) -> None:
    mode, content = SCRIPTS[why]
    path = tmp_path / "program"
    path.write_bytes(content)
    path.chmod(mode)
    assert started(path) == not_executable(why)


def test_an_empty_file_has_the_wrong_format(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.touch(0o700)
    answer = started(path)
    assert isinstance(answer, NotStarted)
    assert answer.why.startswith("wrong format")


def test_a_missing_file_a_directory_and_a_pipe_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o700)
    assert started(tmp_path / "gone") == not_executable("no such file")
    assert started(tmp_path / "fifo" / "below") == not_executable("no such file")
    assert started(tmp_path) == not_executable("is a directory")
    assert started(tmp_path / "fifo") == not_executable("is no file")


def test_a_program_whose_loader_is_missing_is_named_by_the_loader(tmp_path: Path) -> None:
    path = tmp_path / "program"
    content = bytearray(Path("/bin/true").read_bytes())
    place = content.find(b"/lib64/ld-")
    if place < 0:
        pytest.skip("this machine's programs have another loader")
    content[place : place + 6] = b"/lib65"
    path.write_bytes(content)
    path.chmod(0o700)
    answer = started(path)
    assert isinstance(answer, NotStarted)
    assert answer.why.startswith("missing interpreter /lib65/ld-")


def test_an_argument_beyond_the_kernels_own_limit_is_named() -> None:
    assert started("/bin/true", "x" * 131071) == 0
    assert started("/bin/true", "x" * 131072) == not_executable("argument list too long")
    assert started("/bin/true", *["x" * 100_000] * 100) == not_executable("argument list too long")
    assert started("/bin/true", env={"A": "x" * 131072}) == not_executable("argument list too long")


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_what_no_program_can_be_given_is_refused_before_the_start(text: str) -> None:
    for answer in (started("/bin/true", text), started("/bin/true", env={"A": text})):
        assert isinstance(answer, NotStarted)
        assert answer.code == "not_executable"


def test_a_variable_whose_name_would_shadow_another_one_is_refused() -> None:
    answer = started("/bin/true", env={"HCP_SANDBOX=sandbox;X": "1", "HCP_SANDBOX": "native-local"})
    assert answer == not_executable("an argument or variable that no program can be given")


def test_a_working_directory_that_cannot_be_entered_is_named_and_not_the_program(tmp_path: Path) -> None:
    path = tmp_path / "no directory"
    path.touch()
    fd = os.open(path, os.O_PATH)
    try:
        answer = started("/bin/true", directory=fd)
    finally:
        os.close(fd)
    assert answer == not_executable("working directory gone (Not a directory)")


@pytest.mark.root
def test_a_program_on_a_noexec_file_system_is_named(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    mount = ["mount", "-t", "tmpfs", "-o", "noexec", "none", str(tmp_path)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        path = tmp_path / "program"
        shutil.copy("/bin/true", path)
        answer = started(path)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert answer == not_executable("no right to run it, or its file system is mounted noexec")

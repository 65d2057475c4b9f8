"""Why a program cannot be started, by name (Spec 07, `not_executable`)."""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

_HEAD: Final = 4096
_NO_RIGHT: Final = "no right to run it, or its file system is mounted noexec"


def why_not_started(path: str, problem: OSError) -> str:
    """Name what is wrong with a program that the kernel refused to start."""
    try:
        named = file_fault(path, os.stat(path)) or script_fault(first_bytes(path))
    except OSError as gone:
        return "no such file" if gone.errno in (errno.ENOENT, errno.ENOTDIR) else _text(gone)
    if named is not None:
        return named
    if problem.errno == errno.E2BIG:
        return "argument list too long"
    if problem.errno == errno.ENOEXEC:
        return "wrong format: neither a program for this machine nor a script with a #! line"
    if problem.errno == errno.ENOENT:
        return f"missing interpreter {_loader(path) or 'of its format'}"
    if problem.errno == errno.EACCES:
        return _NO_RIGHT
    return _text(problem)


def file_fault(path: str, status: os.stat_result) -> str | None:
    """Look for what keeps a file from being a program, or None."""
    if stat.S_ISDIR(status.st_mode):
        return "is a directory"
    if not stat.S_ISREG(status.st_mode):
        return "is no file"
    if os.access(path, os.X_OK, effective_ids=True):
        return None
    return _NO_RIGHT if status.st_mode & 0o111 else "no run bit"


def script_fault(head: bytes, search_path: str = "") -> str | None:
    """Look for what is wrong with the `#!` line of a script, or None; `env` looks along `search_path`."""
    if not head.startswith(b"#!"):
        return None
    line = head[2:].partition(b"\n")[0]
    if line.endswith(b"\r"):
        return "CR LF in the first line"
    words = line.split()
    if not words:
        return "no interpreter in the first line"
    interpreter = os.fsdecode(words[0])
    if not os.path.exists(interpreter):
        return f"missing interpreter {interpreter}"
    if os.path.isdir(interpreter) or not os.access(interpreter, os.X_OK, effective_ids=True):
        return f"interpreter {interpreter} has no run bit"
    if search_path and os.path.basename(interpreter) == "env" and len(words) == 2:
        return _env_fault(os.fsdecode(words[1]), search_path)
    return None


def first_bytes(path: str) -> bytes:
    """Return the beginning of a program, empty where it may be run but not read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(fd, _HEAD)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _env_fault(name: str, search_path: str) -> str | None:
    if "/" in name or "=" in name or name.startswith("-"):
        return None
    folders = [folder for folder in search_path.split(":") if folder]
    if any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders):
        return None
    return f"missing interpreter {name}"


def _loader(path: str) -> str | None:
    """Return the loader that an ELF program names: what is missing where the program itself is there."""
    head = first_bytes(path)
    start = head.find(b"/ld")
    start = head.rfind(b"\0", 0, start) + 1 if start > 0 else -1
    if head[:4] != b"\x7fELF" or start < 1:
        return None
    return os.fsdecode(head[start:].partition(b"\0")[0])


def _text(problem: OSError) -> str:
    return os.strerror(problem.errno or 0)

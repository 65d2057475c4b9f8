"""Whether the kernel can start a program inside a sandbox, asked before anything is started."""

from __future__ import annotations

import os

from . import view

_ELF, _SCRIPT = b"\x7fELF", b"#!"


def problem(path: str, read_only: tuple[str, ...]) -> str | None:
    """Return why a program (its real path on the host) cannot be started inside, None where it can.

    A shell would run a file without a known beginning as its own script, so that is asked here.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(256)
    except OSError as error:
        return error.strerror or "cannot be read"
    if head.startswith(_ELF):
        return None
    if not head.startswith(_SCRIPT):
        return "neither a binary nor a script with a first line that names its interpreter"
    words = head[2:].split(b"\n", 1)[0].split()
    if not words:
        return "its first line names no interpreter"
    interpreter = os.fsdecode(words[0])
    if _is_seen(interpreter, read_only) and _is_seen(os.path.realpath(interpreter), read_only):
        return None if os.path.exists(interpreter) else f"missing interpreter {interpreter}"
    return f"its interpreter {interpreter} cannot be seen in the sandbox"


def _is_seen(path: str, read_only: tuple[str, ...]) -> bool:
    return view.in_system(path) or any(view.below(path, folder) for folder in read_only)

"""The gate inside a sandbox: nothing of the job runs before its limits hold and we say go (Spec 04).

A static shell script, given its figures and the program as arguments, never as text to parse. It says that it is
there and waits for a line on its stdin, one end of a socket pair: if the runtime is gone, that ends, and so does
the script. It then sets the limits, says `ok`, and becomes the program, whose stdin is empty. What it says
cannot be forged from inside: a socket cannot be opened through /proc.
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Final

from hcpx.vocabulary.policy import Limits

SCRIPT: Final = (
    "echo ready >&0 && read -r _ || exit 125\n"
    'ulimit -c 0 && ulimit -f "$1" && ulimit -n "$2" || exit 125\n'
    '[ "$3" = - ] || ulimit -d "$3" || exit 125\n'
    '[ "$4" = - ] || ulimit -u "$4" 2>/dev/null || ulimit -p "$4" || exit 125\n'
    "shift 4\n"
    "trap 'echo no >&0' EXIT\n"
    "echo ok >&0 || exit 125\n"
    'exec "$@" </dev/null\n'
)
"""Its figures: file size in 512-byte blocks, open files, data in KiB, processes; `-` for no such limit."""

_READY: Final = b"ready\n"
SHELL: Final = "/bin/sh"


def command(limits: Limits, program: tuple[str, ...], *, data: bool, processes: bool) -> list[str]:
    """Return the command line that runs a program behind the gate.

    No figure is above what this process may set.
    """
    import resource

    def capped(kind: int, wanted: int) -> int:
        hard = resource.getrlimit(kind)[1]
        return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)

    size = capped(resource.RLIMIT_FSIZE, limits.file_mb * 1024 * 1024) // 512
    files = capped(resource.RLIMIT_NOFILE, limits.files)
    memory = str(capped(resource.RLIMIT_DATA, limits.memory_mb * 1024 * 1024) // 1024) if data else "-"
    count = str(capped(resource.RLIMIT_NPROC, limits.processes)) if processes else "-"
    return [SHELL, "-c", SCRIPT, "gate", str(size), str(files), memory, count, *program]


class Gate:
    """Our side of it."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()

    @property
    def stdin(self) -> int:
        """The descriptor that becomes the script's stdin."""
        return self._theirs.fileno()

    @property
    def inode(self) -> int:
        """What names that end for certain as long as anybody holds it."""
        return os.fstat(self._theirs.fileno()).st_ino

    def handed_over(self) -> None:
        """Close their side here, so that its end is seen."""
        self._theirs.close()

    def wait(self, timeout_s: float) -> bool:
        """Wait until the script is there to be told; False where all inside ended before. Raises TimeoutError.

        A go that came earlier could be found by a script whose runtime has died meanwhile, and whose sandbox had
        not been tied to it yet.
        """
        self._ours.settimeout(timeout_s)
        try:
            return self._ours.recv(len(_READY), socket.MSG_WAITALL) == _READY
        except ConnectionError:
            return False

    def open(self) -> None:
        """Say go. Where nobody listens any more, the verdict tells."""
        with contextlib.suppress(OSError):
            self._ours.send(b"\n", socket.MSG_NOSIGNAL)

    def verdict(self) -> str:
        """Say how far it came, once everything inside has ended: `shut`, `passed` or `not executed`."""
        said = b""
        with contextlib.suppress(OSError):
            self._ours.setblocking(False)  # noqa: FBT003 - the standard library's own signature
            said = self._ours.recv(64)
        if not said:
            return "shut"
        return "not executed" if said == b"ok\nno\n" else "passed"

    def close(self) -> None:
        """Close both sides."""
        self._theirs.close()
        self._ours.close()

"""The program `hcpx`."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import TextIOWrapper


def main() -> int:
    """Run one command line; the exit status is in Spec 05 section 1."""
    words = sys.argv[1:]
    # Ctrl-C while modules load ends the program as it ends any other: nothing has begun yet. A KeyboardInterrupt in the
    # middle of loading one would be a trace, or crash one that is written in C.
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        run = _loaded(words)
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
    return run(words)


def _loaded(words: list[str]) -> Callable[[list[str]], int]:
    if None in (sys.stdin, sys.stdout, sys.stderr):
        # A closed stream's number would go to the next file that is opened, which then gets the output.
        from hcpx.faces.cli.streams import mend

        mend()
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    if words[:1] == ["exec"]:
        from hcpx.faces.cli.exec_command import main as run
    else:
        from hcpx.faces.cli.groups import main as run
    return run


if __name__ == "__main__":
    raise SystemExit(main())

"""The program `hcpx`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from io import TextIOWrapper


def main() -> int:
    """Run one command line; the exit status is in Spec 05 section 1."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        # A closed stream's number would go to the next file that is opened, which then gets the output.
        from hcpx.faces.cli.streams import mend

        mend()
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    words = sys.argv[1:]
    if words[:1] == ["exec"]:
        from hcpx.faces.cli.exec_command import main as run
    else:
        from hcpx.faces.cli.groups import main as run
    return run(words)


if __name__ == "__main__":
    raise SystemExit(main())

"""The program `hcpx`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run one command line; the exit status is in Spec 05 section 1."""
    words = sys.argv[1:]
    if words[:1] == ["exec"]:
        from hcpx.faces.cli.exec_command import main as run
    else:
        from hcpx.faces.cli.groups import main as run
    return run(words)


if __name__ == "__main__":
    raise SystemExit(main())

"""hcpx in process, one call a line, and nothing between the return of `exec` and the answer."""

from __future__ import annotations

import os
import sys

from bench.commands import COMMANDS


def main() -> None:
    """Read names of commands, answer each call with `acknowledged ID`."""
    from hcpx import Hcp

    hcp = Hcp.open()
    for name in sys.stdin:
        command = COMMANDS[name.strip()]
        result = hcp.exec(command.pack_id, command.verb_key, command.args)
        os.write(1, f"acknowledged {result.audit_id}\n".encode() if result.ok else b"refused\n")


if __name__ == "__main__":
    main()

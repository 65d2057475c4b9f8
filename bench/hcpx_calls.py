"""hcpx in process: `Hcp.exec` of one of the commands, on the home that the environment names."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from time import sleep

from bench.child import Caller, serve
from bench.commands import COMMANDS, DATABASE

SHARED_COMMIT_S = 0.05  # reads may share a commit for so long (Spec 06 section 2)


def build(name: str) -> Caller:
    """Open the store once and call the command again and again."""
    from hcpx import Hcp

    command = COMMANDS[name]
    hcp = Hcp.open()
    database = Path(os.environ["HCP_HOME"]) / DATABASE

    def records() -> int:
        sleep(2 * SHARED_COMMIT_S)
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as sql:
            return sql.execute("SELECT coalesce(sum(seq), 0) FROM chains").fetchone()[0] // command.records

    return Caller(
        lambda: hcp.exec(command.pack_id, command.verb_key, command.args),
        lambda answer: command.right(answer.ok, answer.result),
        records,
    )


if __name__ == "__main__":
    serve(lambda: build(sys.argv[1]))

"""A runtime that runs one job after another until it is killed: `... victim KIND FOLDER WORD`."""

from __future__ import annotations

import sys

from tests.sandbox_isolation.bench import Bench

# It tells its limits before anything else, then stays.
SCRIPT = 'echo "$(ulimit -n) $(ulimit -c)" >>limits; exec sleep "$1"'


def main(kind: str, folder: str, word: str) -> None:
    bench = Bench(folder, kind)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    while True:
        bench.backend.run(bench.shell(SCRIPT, word, files=77))


if __name__ == "__main__":
    main(*sys.argv[1:])

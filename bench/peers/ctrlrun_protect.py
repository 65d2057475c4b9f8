"""CTRLRun: a protected function, its receipts a chain in SQLite."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.child import Caller, Tool, main

SCOPE = ExitStack()  # closed with the process

POLICY = """
schema: ctrlrun.policy/v2
actions:
  bench.tool:
    rules:
      - decision: allow
"""


def build(tool: Tool) -> Caller:
    """Protect the tool by a policy of one rule, for a named agent."""
    import ctrlrun

    store = ctrlrun.SQLiteStateStore(Path(tempfile.mkdtemp()) / "state.db")
    control = ctrlrun.Control(ctrlrun.Policy.from_yaml(POLICY), store)
    protected = ctrlrun.protect("bench.tool", control=control)(tool)
    SCOPE.enter_context(ctrlrun.context(agent="bench"))
    return Caller(
        lambda: protected(text="x"),
        lambda answer: answer == {"echo": "x"},
        lambda: sum(1 for _ in store.receipts()),
    )


if __name__ == "__main__":
    main(build)

"""CHP: a capability of a local host, its evidence a chain in SQLite."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.child import Caller, Tool, main

EVENTS_PER_CALL = 2


def build(tool: Tool) -> Caller:
    """Register the tool as a capability and invoke it by id."""
    from chp_core import LocalCapabilityHost, capability
    from chp_core.store import SQLiteEvidenceStore

    store = SQLiteEvidenceStore(Path(tempfile.mkdtemp()) / "evidence.sqlite")
    host = LocalCapabilityHost("bench", store=store)
    host.register(capability(id="bench.tool", version="1.0.0", description="The tool.")(tool))
    return Caller(
        lambda: host.invoke("bench.tool", {"text": "x"}),
        lambda answer: answer.success and answer.data == {"echo": "x"},
        lambda: store.count() // EVENTS_PER_CALL,
    )


if __name__ == "__main__":
    main(build)

"""Agent Governance Toolkit: a governed function, its audit a chain in memory and signed lines in a file."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

from bench.child import Caller, Tool, main

POLICY = """
apiVersion: governance.toolkit/v1
name: bench
agents: ["*"]
default_action: deny
rules:
  - {name: tool, condition: "action.type == 'tool'", action: allow}
"""


def build(tool: Tool) -> Caller:
    """Govern the tool by a policy of one rule."""
    warnings.simplefilter("ignore")  # it calls its own name deprecated
    from agentmesh.governance.audit import AuditLog
    from agentmesh.governance.audit_backends import FileAuditSink
    from agentmesh.governance.govern import govern

    path = Path(tempfile.mkdtemp()) / "audit.jsonl"

    def named(action: str, text: str) -> dict[str, str]:  # noqa: ARG001  # the policy reads it
        return tool(text)

    governed = govern(named, policy=POLICY)
    governed._audit = AuditLog(sink=FileAuditSink(path, b"bench" * 8))  # noqa: SLF001  # govern() passes on no sink
    return Caller(
        lambda: governed(action="tool", text="x"),
        lambda answer: answer == {"echo": "x"},
        lambda: len(path.read_bytes().splitlines()) if path.exists() else 0,
    )


if __name__ == "__main__":
    main(build)

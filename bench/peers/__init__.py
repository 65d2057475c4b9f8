"""Who else does such a thing, each in a small file and an environment of its own.

A peer's file imports nothing of the peer at its top, so that it can be listed without being installed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A library that answers a tool call in process; `audit` says in short what it records of it."""

    name: str
    module: str
    requirements: tuple[str, ...]
    audit: str


PEERS = (
    Peer("MCP SDK", "bench.peers.mcp_sdk", ("mcp>=2.3,<3",), "none"),
    Peer("FastMCP", "bench.peers.fastmcp_server", ("fastmcp>=4.1,<5",), "none"),
    Peer("Tenuo", "bench.peers.tenuo_guard", ("tenuo>=0.3.3,<0.4",), "a JSON line, not synced"),
    Peer(
        "Agent Governance Toolkit",
        "bench.peers.agent_governance",
        ("agent-governance-toolkit-core>=5.0,<6",),
        "a signed JSON line, not synced",
    ),
    Peer("CTRLRun", "bench.peers.ctrlrun_protect", ("ctrlrun>=0.12,<0.13",), "a chained receipt in SQLite"),
    Peer("CHP", "bench.peers.chp_host", ("chp-core>=0.60,<0.61",), "chained events in SQLite"),
)

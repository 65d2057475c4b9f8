"""The budget table: what one exec may cost, now and as a goal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """One number that is held against a bound. `unit` is `x` for a ratio; others are absolute."""

    key: str
    what: str
    unit: str
    budget: float
    goal: float
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Tell whether a measured value keeps the budget."""
        return value >= self.budget if self.at_least else value <= self.budget


@dataclass(frozen=True)
class Row:
    """A row of the table: an id, a sentence, its limits; `later` where there is nothing to measure yet."""

    id: str
    what: str
    limits: tuple[Limit, ...]
    later: bool = False


ROWS = (
    Row(
        "P1",
        "cold `hcpx exec` of a composite read",
        (Limit("ratio", "wall over `python -I -c pass`", "x", 8, 4),),
    ),
    Row(
        "P2",
        "warm `hcpx exec` through the resident runtime",
        (Limit("ratio", "wall over `python -c pass` of the same environment", "x", 1.8, 1.1),),
        later=True,
    ),
    Row(
        "P3",
        "in-process exec of a composite read, audited",
        (
            Limit("p50", "median", "us", 70, 40),
            Limit("ahead", "times faster than the MCP SDK's in-process call", "x", 2, 2, at_least=True),
        ),
    ),
    Row(
        "P4",
        "execs a second over HTTP",
        (Limit("ratio", "over FastMCP's, the same work", "x", 5, 9, at_least=True),),
        later=True,
    ),
    Row(
        "P5a",
        "wrap exec, native-local",
        (
            Limit("ratio", "over `subprocess.run` of the same child with two pipes", "x", 1.3, 1.1),
            Limit("excess", "more than that spawn", "us", 250, 250),
        ),
    ),
    Row(
        "P5b",
        "wrap exec, isolated",
        (Limit("ratio", "over bare bubblewrap with the same policy", "x", 1.3, 0.6),),
        later=True,
    ),
    Row(
        "P6",
        "exec with 10,000 packs, 100,000 grants, 3,000,000 audit rows",
        (Limit("ratio", "over the same with 10, 10 and none", "x", 1.2, 1.05),),
    ),
    Row(
        "P7",
        "syncs to disk before the adapter starts",
        (Limit("write", "of a write", "", 1, 1), Limit("read", "of a read", "", 0, 0)),
    ),
    Row(
        "P9",
        "acknowledged audit records lost, of a write",
        (Limit("kill", "by `kill -9`", "", 0, 0), Limit("power", "by power loss", "", 0, 0)),
    ),
    Row(
        "P8",
        "server's resident memory",
        (
            Limit("idle", "idle with 100 packs", "MB", 90, 60),
            Limit("call", "per running call", "KiB", 256, 64),
        ),
        later=True,
    ),
)

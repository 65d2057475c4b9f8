"""What a run found, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from bench.budget import Row
from bench.sampling import Series
from bench.spread import Spread, calls

LATER = "comes with a later part"


class Beside(msgspec.Struct, frozen=True):
    """A figure beside the budget: a peer over hcpx in the same run, or what explains the number."""

    what: str
    unit: str
    value: Spread


class Finding(msgspec.Struct, omit_defaults=True):
    """One row of the table as measured: values by the key of their limit, or why there are none.

    `series` are absolute times in nanoseconds a call; `absent` says which peer is missing and why.
    """

    values: dict[str, Spread] = {}
    beside: list[Beside] = []
    absent: dict[str, str] = {}
    series: dict[str, Spread] = {}
    refused: str | None = None

    def keep(self, series: Mapping[str, Series]) -> None:
        """Keep the absolute times of the series."""
        self.series.update({name: calls(one) for name, one in series.items()})


class Report(msgspec.Struct):
    """A whole run: what was measured, where, and the findings by row."""

    format: int
    hcpx: str
    commit: str
    at: str
    seed: int
    machine: dict[str, str]
    findings: dict[str, Finding]

    def sound(self) -> bool:
        """Tell whether every sample was what it should be."""
        return all(finding.refused is None for finding in self.findings.values())

    def to_json(self) -> bytes:
        """One JSON document."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @staticmethod
    def from_json(text: bytes) -> Report:
        """Read what `to_json` wrote. Raises `ValueError` for anything else."""
        report = msgspec.json.decode(text, type=Report)
        if report.format != 1:
            raise ValueError(f"a report of format {report.format}, not 1")
        return report


def verdict(row: Row, finding: Finding | None) -> str:
    """One word on a row: `later`, `not measured`, `refused`, `holds` or `over`."""
    if row.later:
        return LATER
    if finding is None:
        return "not measured"
    if finding.refused is not None:
        return "refused"
    if any(limit.key not in finding.values for limit in row.limits):
        return "not measured"
    held = all(limit.holds(finding.values[limit.key].median) for limit in row.limits)
    return "holds" if held else "over budget"

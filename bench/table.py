"""The table for a terminal."""

from __future__ import annotations

from bench.budget import ROWS, Limit, Row
from bench.report import LATER, Finding, Report, verdict
from bench.spread import Spread


def number(value: float) -> str:
    """A number with about three digits that mean something."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_unit(value: float, unit: str) -> str:
    """A number and its unit: `1.2x`, `38 us`, `1`."""
    return number(value) + (unit if unit == "x" else f" {unit}" if unit else "")


def between(one: Spread, unit: str) -> str:
    """The quartiles, or nothing where the number was counted."""
    return "" if one.count == 1 else f"{number(one.low)} .. {with_unit(one.high, unit)}"


def bound(limit: Limit, value: float) -> str:
    """A bound as the table says it."""
    return ("at least " if limit.at_least else "") + with_unit(value, limit.unit)


def render(report: Report) -> str:
    """The whole table, one line a limit, what stands beside it below."""
    machine = ", ".join(f"{key} {value}" for key, value in report.machine.items())
    lines = [f"hcpx {report.hcpx} at {report.commit}, {report.at}, seed {report.seed}", machine, ""]
    for row in ROWS:
        lines += _row(row, report.findings.get(row.id))
    lines += [
        "",
        "Ratios of medians, with the quartiles of the rounds; everything in one run, in random order.",
    ]
    return "\n".join(lines) + "\n"


def _row(row: Row, finding: Finding | None) -> list[str]:
    said = verdict(row, finding)
    lines = [f"{row.id:<4} {row.what}: {said}"]
    if said == LATER or finding is None:
        return lines
    if finding.refused is not None:
        return [*lines, f"       {finding.refused}"]
    for limit in row.limits:
        value = finding.values.get(limit.key)
        measured = "-" if value is None else with_unit(value.median, limit.unit)
        apart = "" if value is None else between(value, limit.unit)
        lines.append(
            f"       {measured:>10}  {apart:<20}  {limit.what}"
            f" (budget {bound(limit, limit.budget)}, goal {bound(limit, limit.goal)})"
        )
    lines += [
        f"       {with_unit(one.value.median, one.unit):>10}  {between(one.value, one.unit):<20}  {one.what}"
        for one in finding.beside
    ]
    lines += [f"       {'-':>10}  {'':<20}  {name}: {why}" for name, why in finding.absent.items()]
    return lines

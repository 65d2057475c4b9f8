"""The page for the docs: ratios only, made from the JSON of a run."""

from __future__ import annotations

from bench.budget import ROWS, Row
from bench.report import LATER, Finding, Report, verdict
from bench.table import between, bound, with_unit

RATIOS = ("x", "")
HEAD = """\
# Performance

<!-- python -m bench --from docs/reference/performance.json --page docs/reference/performance.md -->

What one exec costs, as ratios measured in one run, side by side and in random order, with the quartiles of
the rounds. Absolute times belong to a machine and are left out; `python -m bench` prints them for yours.
Every sample is checked: the answer, the exit status, the growth of the audit.

"""


def render(report: Report) -> str:
    """The page."""
    cores, python = report.machine["cores"], report.machine["python"]
    run = f"hcpx {report.hcpx} at `{report.commit}`, {report.at}, Python {python}, {cores} cores"
    table = [
        "| id | figure | measured | between | budget | goal | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in ROWS:
        table += _rows(row, report.findings.get(row.id))
    return "\n".join([f"{HEAD}This run: {run}.\n", *table, "", *_peers(report)]) + "\n"


def _rows(row: Row, finding: Finding | None) -> list[str]:
    said = verdict(row, finding)
    lines: list[str] = []
    for limit in row.limits:
        if limit.unit not in RATIOS:
            continue
        value = None if finding is None else finding.values.get(limit.key)
        shown = said == LATER or value is None
        cells = (
            row.id,
            f"{row.what}, {limit.what}",
            "" if shown or value is None else with_unit(value.median, limit.unit),
            "" if shown or value is None else between(value, limit.unit),
            bound(limit, limit.budget),
            bound(limit, limit.goal),
            said,
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines or [f"| {row.id} | {row.what} | | | | | {said} |"]


def _peers(report: Report) -> list[str]:
    lines: list[str] = []
    for row in ROWS:
        finding = report.findings.get(row.id)
        ratios = [one for one in finding.beside if one.unit in RATIOS] if finding else []
        if not finding or not (ratios or finding.absent):
            continue
        lines += [f"## Beside {row.id}: {row.what}", "", "| | measured | between |", "| --- | --- | --- |"]
        lines += [
            f"| {one.what} | {with_unit(one.value.median, one.unit)} | {between(one.value, one.unit)} |"
            for one in ratios
        ]
        lines += [f"| {name} | {why} | |" for name, why in finding.absent.items()]
        lines.append("")
    return lines

"""One file a row of the budget table: each takes the course and gives a finding."""

from __future__ import annotations

from collections.abc import Callable

from bench.course import Course
from bench.report import Finding

from . import p1_cold, p3_in_process, p5a_spawn, p6_scale, p7_p9_disk

FIGURES: dict[tuple[str, ...], Callable[[Course], dict[str, Finding]]] = {
    ("P1",): p1_cold.measure,
    ("P3",): p3_in_process.measure,
    ("P5a",): p5a_spawn.measure,
    ("P6",): p6_scale.measure,
    ("P7", "P9"): p7_p9_disk.measure,
}

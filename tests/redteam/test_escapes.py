"""Each attempt works when nothing holds it, and fails in the sandbox (Spec 04)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.redteam.attempts import ATTEMPTS, NOT_BY_THE_FALLBACK, SETTINGS, Attempt
from tests.redteam.conftest import BACKENDS, Rows, settings

pytestmark = pytest.mark.slow
ENOUGH = 45
CASES = [
    pytest.param(setting, backend, attempt, id=f"{setting}/{backend}/{attempt.attack}".replace(" ", "_"))
    for setting in SETTINGS
    for backend in BACKENDS
    for attempt in ATTEMPTS
    if setting in attempt.where
]


def _row(rows: dict[str, Rows], setting: str, attempt: Attempt) -> dict[str, Any]:
    if setting not in rows:
        pytest.skip("needs root to take on this setting")
    return rows[setting][attempt.attack]


@pytest.mark.parametrize(("setting", "backend", "attempt"), CASES)
def test_an_attack_that_works_uncontrolled_is_held(
    rows: dict[str, Rows], setting: str, backend: str, attempt: Attempt
) -> None:
    row = _row(rows, setting, attempt)
    if not row["control"]["worked"]:
        pytest.skip(f"this machine stops it by itself: {row['control']['evidence']}")
    if backend not in row:
        pytest.skip("this kernel has no Landlock of ABI 6 or newer")
    if backend == "fallback" and attempt.attack in NOT_BY_THE_FALLBACK:
        pytest.skip("not promised by the fallback: said in the docs and by doctor")
    if setting in attempt.unpromised:
        pytest.skip("not promised without a memory cgroup: said in the docs and by doctor")
    assert row[backend]["worked"] is False, row[backend]["evidence"]


@pytest.mark.parametrize("setting", SETTINGS)
def test_enough_attacks_are_proven_to_work_here(rows: dict[str, Rows], setting: str) -> None:
    if setting not in settings():
        pytest.skip("needs root to take on this setting")
    proven = [row["attack"] for row in rows[setting].values() if row["control"]["worked"]]
    assert len(proven) >= ENOUGH

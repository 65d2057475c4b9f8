"""Every lint rule against its own examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hcpx.packs.gate import lint
from hcpx.packs.lint.rule import Rule
from hcpx.packs.lint.rules import RULES
from tests.packs_room.sound import SOUND, laid_over, write_pack

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = [(rule, text) for rule in RULES for text in rule.refused]
FINE = [(rule, text) for rule in RULES for text in rule.fine]


def codes(folder: Path) -> set[tuple[str, str]]:
    return {(finding.code, finding.severity) for finding in lint(str(folder))}


def test_the_sound_pack_has_no_findings(tmp_path: Path) -> None:
    assert lint(str(write_pack(tmp_path, SOUND))) == ()


@pytest.mark.parametrize(("rule", "text"), REFUSED, ids=[f"{rule.code}-{text}" for rule, text in REFUSED])
def test_a_rule_finds_what_its_examples_break(rule: Rule, text: str, tmp_path: Path) -> None:
    assert (rule.code, rule.severity) in codes(write_pack(tmp_path, laid_over(text)))


@pytest.mark.parametrize(("rule", "text"), FINE, ids=[f"{rule.code}-{text}" for rule, text in FINE])
def test_a_rule_leaves_its_sound_examples_alone(rule: Rule, text: str, tmp_path: Path) -> None:
    found = codes(write_pack(tmp_path, laid_over(text)))
    assert rule.code not in {code for code, _ in found}
    # An example that does not get as far as the rules would prove nothing.
    assert not {code for code, _ in found} & {"unknown_key", "wrong_type", "bad_value", "missing_key"}


def test_codes_are_unique_and_every_rule_has_examples() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert [rule.code for rule in RULES if not rule.refused or not rule.fine] == []

"""The list of rows and the tests agree, both ways: no row without a test or a reason, no test without a row."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

HERE = Path(__file__).parent
GROUPS = {"A": 5, "B": 5, "C": 4, "D": 4, "E": 5, "F": 6, "G": 3, "H": 4, "I": 3, "J": 4, "K": 3, "L": 4, "X": 11}
LISTED = {f"{group}{number}" for group, many in GROUPS.items() for number in range(1, many + 1)}


def rows() -> dict[str, Any]:
    loader: Any = YAML(typ="safe", pure=True)
    return loader.load(HERE / "rows.yaml")


def named_by_tests() -> dict[str, list[str]]:
    """The names of the tests of this folder, by the row that each names."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and path.name != "test_rows.py":
                named = re.match(r"test_([a-z]\d+)_", node.name)
                found.setdefault(named[1].upper() if named else "", []).append(node.name)
    return found


def test_every_row_is_listed_once_and_nothing_else_is() -> None:
    assert set(rows()) == LISTED


def test_every_row_has_its_tests_or_the_reason_why_it_waits() -> None:
    for row, facts in rows().items():
        assert set(facts) in ({"right", "tests"}, {"right", "waits"}), row
        texts = [facts["right"], *facts.get("tests", [facts.get("waits")])]
        assert len(texts) > 1, row
        assert all(isinstance(text, str) and text for text in texts), row


def test_the_tests_that_a_row_names_are_the_ones_that_name_it() -> None:
    listed = {row: sorted(facts["tests"]) for row, facts in rows().items() if "tests" in facts}
    assert {row: sorted(names) for row, names in named_by_tests().items()} == listed


def test_no_two_tests_share_a_name() -> None:
    names = [name for found in named_by_tests().values() for name in found]
    assert len(set(names)) == len(names)

"""The reference page says what the schema and the rules say."""

from __future__ import annotations

import re
from pathlib import Path

from hcpx.packs.lint.rules import RULES
from hcpx.packs.reference import FORM, manifest_reference

ROOT = Path(__file__).resolve().parents[2]
PACKS = ROOT / "src/hcpx/packs"


def test_the_page_is_fresh() -> None:
    page = ROOT / "docs/reference/manifest.md"
    assert page.read_text(encoding="utf-8") == manifest_reference(), "run: scripts/reference"


def test_every_code_that_is_ever_found_is_explained() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in PACKS.glob("*.py"))
    schema = (PACKS / "pack.schema.json").read_text(encoding="utf-8")
    found = set(re.findall(r'(?:Finding|_finding|_found|_refused|_unread|Unreadable)\(\s*"([a-z_]+)"', source))
    found |= set(re.findall(r'(?:_at|_note|_found)\((?:[a-z]+, |self\._file, )?"([a-z_]+)"', source))
    found |= set(re.findall(r'"(\w+)", (?:f?"[^"]*"|[a-z]+), "[^"]*"$', source, re.MULTILINE))
    found |= set(re.findall(r'return "([a-z_]+)", f?"', source))
    found |= set(re.findall(r'"x-code": "([a-z_]+)"', schema))
    explained = {code for code, _ in FORM}
    assert found - explained == set()
    # What is explained and never found would be a promise without a test.
    words = set(re.findall(r'"([a-z_]+)"', source + schema))
    assert explained <= words
    assert explained & {rule.code for rule in RULES} == set()


def test_every_rule_and_every_top_key_is_on_the_page() -> None:
    page = manifest_reference()
    for rule in RULES:
        assert f"### {rule.code}\n" in page
    for key in (
        "hcp",
        "wrap.bin",
        "binding.connect.secret",
        "commands.<...>.examples[].argv",
        "sense.<...>.every_s",
    ):
        assert f"| `{key}`" in page

"""No link leads nowhere, and no page is beyond a reader's reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT
from tests.docs.links import PAGES, anchors, links, reached

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    lost = [
        f"{target}#{anchor}"
        for target, anchor in links(page)
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]
    assert lost == []


def test_every_page_is_reached_from_the_front_page_of_the_documentation() -> None:
    assert [page for page in PAGES if page not in reached(ROOT / "docs/README.md") | reached(ROOT / "README.md")] == []
    within = [page for page in PAGES if page.is_relative_to(ROOT / "docs")]
    assert [page for page in within if page not in reached(ROOT / "docs/README.md")] == []


def test_every_decision_has_a_number_of_its_own_and_says_it() -> None:
    pages = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    numbers = [page.name[:4] for page in pages]
    assert len(set(numbers)) == len(numbers)
    assert [page.read_text(encoding="utf-8")[:7] for page in pages] == [f"# {number} " for number in numbers]


def test_a_lost_link_a_lost_anchor_and_a_lost_page_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# One `two` three\n\n[b](b.md) [x](https://x.invalid) `[no](link.md)`\n[s](#one-two-three)\n"
    )
    (tmp_path / "b.md").write_text("# B\n\n[gone](gone.md#b)\n")
    (tmp_path / "c.md").write_text("# C\n")
    assert links(tmp_path / "a.md") == [(tmp_path / "b.md", ""), (tmp_path / "a.md", "one-two-three")]
    assert anchors(tmp_path / "a.md") == {"one-two-three"}
    assert links(tmp_path / "b.md") == [(tmp_path / "gone.md", "b")]
    assert reached(tmp_path / "a.md") == {tmp_path / "a.md", tmp_path / "b.md"}

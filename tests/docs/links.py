"""The pages, their blocks and their links, as a reader meets them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
_LINK = re.compile(r"\]\((?P<target>[^)\s]*)\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


def links(page: Path) -> list[tuple[Path, str]]:
    """Return where the links of a page lead: file and anchor; addresses of the net are left out."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    found = [link["target"] for link in _LINK.finditer(text)]
    parts = [target.partition("#") for target in found if "://" not in target]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in parts]


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-") for text in headings}


def reached(start: Path) -> set[Path]:
    """Return the pages that a reader comes to from `start`."""
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        page = waiting.pop()
        if page not in found and page.suffix == ".md" and page.is_file():
            found.add(page)
            waiting += [target for target, _ in links(page)]
    return found

"""What a lint rule is: one function over a draft, with the words and the examples that explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

import msgspec

from hcpx.packs.files import Inventory
from hcpx.packs.frontmatter import SkillFile
from hcpx.packs.yaml_nodes import MAX_MESSAGE, Node, Path
from hcpx.vocabulary.finding import MANIFEST, Finding, Severity
from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.text import shown

Installed = Callable[[str], Pack | None]
"""Looks up the pack that is installed under an id."""


class Draft(msgspec.Struct, frozen=True):
    """A pack whose manifest fits the schema, as the rules see it.

    `tree` is the manifest with its places, `pack` the same compiled, `skills` what each named Skill file came
    to. `packaged` is true for a pack that comes in a Python package. `installed` finds the other packs.
    """

    root: str
    tree: Node
    pack: Pack
    inventory: Inventory
    skills: dict[str, SkillFile]
    installed: Installed
    packaged: bool = False

    def body(self, *path: str | int) -> dict[str, object]:
        """Return the mapping of the manifest at the path, empty where there is none."""
        node = self.tree.at(path)
        return cast("dict[str, object]", node.plain()) if node is not None and node.entries() else {}


class Hit(msgspec.Struct, frozen=True):
    """One breach of a rule; `path` leads to it in the manifest. `mend` replaces the rule's own."""

    message: str
    path: Path = ()
    mend: str | None = None
    file: str = MANIFEST
    line: int = 0
    column: int = 0


class Rule(msgspec.Struct, frozen=True):
    """One rule: what it demands, how a breach is mended, and the function that finds breaches.

    `refused` and `fine` are manifests as YAML, laid over a small sound one; tests hold the rule against both.
    """

    code: str
    severity: Severity
    demand: str
    mend: str
    check: Callable[[Draft], Iterable[Hit]]
    refused: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()

    def findings(self, draft: Draft) -> list[Finding]:
        """Return every breach of this rule."""
        return [self._finding(draft, hit) for hit in self.check(draft)]

    def _finding(self, draft: Draft, hit: Hit) -> Finding:
        place = draft.tree.place(hit.path) if hit.file == MANIFEST and hit.path else (hit.line, hit.column)
        message, mend = shown(hit.message[:MAX_MESSAGE]), hit.mend or self.mend
        return Finding(self.code, self.severity, message, shown(mend), hit.file, *place)

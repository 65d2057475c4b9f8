"""What is wrong with a pack, where, and how to mend it (Spec 02 section 6)."""

from __future__ import annotations

from typing import Literal

import msgspec

from .text import shown

Severity = Literal["error", "warning"]
MANIFEST = "pack.yaml"


class Finding(msgspec.Struct, frozen=True):
    """One finding of lint: an error keeps the pack out, a warning does not.

    `file` is the path below the pack directory. `line` and `column` count from 1; both are 0 where the
    finding is about the file, or the pack, as a whole. `message` and `mend` hold no control characters.
    """

    code: str
    severity: Severity
    message: str
    mend: str
    file: str = MANIFEST
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return one line for people: where, how bad, what, and how to mend it."""
        where = f"{shown(self.file)}:{self.line}:{self.column}" if self.line else shown(self.file)
        return f"{where}: {self.severity}: {self.message} [{self.code}]\n  mend: {self.mend}"


def errors(findings: tuple[Finding, ...] | list[Finding]) -> tuple[Finding, ...]:
    """Return the findings that keep a pack out."""
    return tuple(finding for finding in findings if finding.severity == "error")


def in_order(findings: tuple[Finding, ...] | list[Finding]) -> tuple[Finding, ...]:
    """Return the findings sorted by place, each once."""
    return tuple(sorted(set(findings), key=lambda one: (one.file, one.line, one.column, one.code, one.message)))

"""The table of all rules: what lint runs, and what the reference is generated from (Spec 02 section 6)."""

from __future__ import annotations

from typing import Final

from . import (
    args,
    binding,
    composite,
    credentials,
    program,
    references,
    rows,
    secrets,
    templates,
    texts,
)
from .rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    *rows.RULES,
    *templates.RULES,
    *credentials.RULES,
    *program.RULES,
    *binding.RULES,
    *args.RULES,
    *composite.RULES,
    *references.RULES,
    *secrets.RULES,
    *texts.RULES,
)

"""Fills the templates of a pack's binding: `Bearer {{access_token}}` (Spec 02 section 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache


class UnknownName(Exception):
    """A template asks for a name that the minter does not give."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the template with every `{{name}}` replaced by its value, or raise `UnknownName`.

    What is filled in is never looked at again.
    """

    def value(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in values:
            raise UnknownName(name)
        return values[name]

    return _name().sub(value, template) if "{{" in template else template


@cache
def _name() -> re.Pattern[str]:
    return re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}")

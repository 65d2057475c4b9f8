"""ECMAScript's String of a JSON value (Spec 02 section 2 rule 3)."""

from __future__ import annotations

from typing import cast

from hcpx.vocabulary.json_text import number_text


def string(value: object) -> str | None:
    """Return String(value), or None where the value is null, an object or a list that holds an object.

    Strings stay as they are, numbers are in their shortest form (integers keep all digits), lists join with
    commas, where null is empty and lists nest.
    """
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return _joined(cast("list[object]", value))
    return None


def _joined(items: list[object]) -> str | None:
    texts: list[str] = []
    for item in items:
        text = "" if item is None else string(item)
        if text is None:
            return None
        texts.append(text)
    return ",".join(texts)

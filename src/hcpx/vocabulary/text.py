"""Text in messages: invisible characters made visible, long texts cut (Spec 08 points 4 and 5)."""

from __future__ import annotations

ERROR_BYTES = 4096
_LONGEST_NAME = 128


def shown(text: str) -> str:
    r"""Return `text` with every control and invisible character as ``\u{XXXX}``.

    Those are the Unicode categories C and Z except the plain space (Spec 08 point 4).
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):04X}}}" for char in text)


def headed(text: str, limit: int = ERROR_BYTES) -> str:
    """Return the head of `text` that fits into `limit` bytes of UTF-8, ending on a whole character."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[:limit].decode("utf-8", "ignore")


def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """Return the known name that `name` was most likely meant to be, or None."""
    if len(name) > _LONGEST_NAME:
        return None
    from difflib import get_close_matches  # only wrong names pay for this import

    found = get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else None

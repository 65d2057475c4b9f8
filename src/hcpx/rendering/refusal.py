"""The one form in which args are refused: `invalid args: <JSON pointer>: <why>` (Spec 01 section 3)."""

from __future__ import annotations

from typing import Final

from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.text import headed, nearest

Path = tuple[str | int, ...]
_POINTER_BYTES: Final = 1024


def pointer(path: Path) -> str:
    """Return the RFC 6901 pointer of a path; the empty path is the empty text. A long one keeps its head."""
    text = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)
    return headed(text, _POINTER_BYTES)


def refused(path: Path, why: str) -> Denial:
    """Return the denial for the arg, or the part of one, at `path`."""
    return deny("invalid_args", pointer=pointer(path), why=why)


def unknown(name: str, known: tuple[str, ...]) -> str:
    """Say that an arg is unknown, and which one was probably meant (Spec 02 section 2 rule 11)."""
    near = nearest(name, known)
    return "unknown argument" if near is None else f"unknown argument, did you mean {near}?"

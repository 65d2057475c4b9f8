"""Files that a command line names; `-` is stdin."""

from __future__ import annotations

import sys

from .exec_line import UsageError

_MOST = 1024 * 1024


def text_of(name: str) -> str:
    """Return the text of a file, at most 1 MiB of UTF-8, or raise `UsageError`."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MOST + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(_MOST + 1)
        if len(data) > _MOST:
            raise UsageError(f"{name!r} holds more than 1 MiB")
        return data.decode()
    except (OSError, ValueError) as trouble:
        why = trouble.strerror if isinstance(trouble, OSError) and trouble.strerror else "is not UTF-8 text"
        raise UsageError(f"cannot read {name!r}: {why}") from None

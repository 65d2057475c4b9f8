"""`name=value` words as args (Spec 05 section 1): split at the first `=`, typed by the command's schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from hcpx.vocabulary.json_text import JsonProblem, read_strict

from .exec_line import UsageError

CONTROL = ("confirm", "apply")
_BOOLEANS = {"true": True, "false": False}

Reader = Callable[[str], str]
"""Reads a file by name, `-` being stdin; raises OSError or UnicodeDecodeError."""


def read_pairs(words: tuple[str, ...], takes_text: Mapping[str, bool] | None, read: Reader) -> dict[str, object]:
    """Read the words behind `--`, or raise `UsageError`.

    `takes_text` says for each declared arg whether its schema admits a string; None: nothing is declared.
    """
    args: dict[str, object] = {}
    for word in words:
        name, value = _pair(word, takes_text, read)
        if name in args:
            raise UsageError(f"{name} given twice")
        args[name] = value
    return args


def read_object(text: str, read: Reader) -> dict[str, object]:
    """Read the text of `--args-json`, or raise `UsageError`."""
    value = _json(_contents(text, "--args-json", read), "--args-json")
    if not isinstance(value, dict):
        raise UsageError("--args-json: not an object")
    return cast("dict[str, object]", value)


def _pair(word: str, takes_text: Mapping[str, bool] | None, read: Reader) -> tuple[str, object]:
    left, equals, right = word.partition("=")
    if not equals:
        raise UsageError(f"no = in {word!r}; write name=value")
    name = left.removesuffix(":")
    if not name:
        raise UsageError(f"no name in {word!r}; write name=value")
    value = _contents(right, name, read)
    if left.endswith(":"):
        return name, _json(value, name)
    return name, value if right.startswith("@") else _typed(name, value, takes_text)


def _typed(name: str, value: str, takes_text: Mapping[str, bool] | None) -> object:
    if name in CONTROL or takes_text is None:
        return _BOOLEANS.get(value, value)
    return value if takes_text.get(name, True) else _json(value, name)


def _contents(value: str, name: str, read: Reader) -> str:
    if not value.startswith("@"):
        return value
    try:
        return read(value[1:])
    except OSError as trouble:
        raise UsageError(f"{name}: cannot read {value[1:]!r}: {trouble.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name}: {value[1:]!r} is not UTF-8 text") from None


def _json(text: str, name: str) -> object:
    try:
        return read_strict(text)
    except JsonProblem as problem:
        raise UsageError(f"{name}: {problem}") from None

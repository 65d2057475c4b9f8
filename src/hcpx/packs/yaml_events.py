"""The border to the YAML library: its events as values, its many ways to fail as one (Spec 02 section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

Kind = Literal["document", "mapping", "list", "end", "scalar", "alias"]

_KINDS: dict[type, Kind] = {
    DocumentStartEvent: "document",
    MappingStartEvent: "mapping",
    SequenceStartEvent: "list",
    MappingEndEvent: "end",
    SequenceEndEvent: "end",
    ScalarEvent: "scalar",
    AliasEvent: "alias",
}


class Event(msgspec.Struct, frozen=True):
    """One step through a document; `line` and `column` count from 1.

    `plain` is true for a scalar without quotes and block style, `directives` for a document that begins with
    any but `%YAML 1.2`.
    """

    kind: Kind
    line: int
    column: int
    text: str = ""
    anchor: str | None = None
    tag: str | None = None
    plain: bool = False
    directives: bool = False


class Unreadable(Exception):
    """Why a text is no YAML, with the place where that shows (0 where there is none)."""

    def __init__(self, code: str, why: str, line: int = 0, column: int = 0) -> None:
        super().__init__(why)
        self.code = code
        self.line = line
        self.column = column


def events(text: str) -> Iterator[Event]:
    """Yield the events of a text; raises `Unreadable` and nothing else."""
    try:
        for event in _library(text):
            kind = _KINDS.get(type(event))
            if kind is not None:
                yield _event(kind, event)
    except MarkedYAMLError as problem:
        raise _marked(problem) from None
    except ReaderError as problem:
        before = text[: cast("int", cast("Any", problem).position)]
        line, column = place_behind(before)
        raise Unreadable(
            "yaml_encoding", f"{text[len(before) : len(before) + 1]!a} cannot stand in YAML", line, column
        ) from None
    except Exception as problem:  # noqa: BLE001 -- the library fails in ways of its own on hostile text
        raise Unreadable("yaml_syntax", f"the YAML library gave up: {type(problem).__name__}") from None


def place_behind(before: str) -> tuple[int, int]:
    """Return line and column of what follows this text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _library(text: str) -> Iterator[object]:
    return cast("Iterator[object]", cast("Any", YAML(typ="safe", pure=True)).parse(text))


def _event(kind: Kind, event: Any) -> Event:  # noqa: ANN401 -- the library is not typed
    scalar = kind == "scalar"
    return Event(
        kind,
        event.start_mark.line + 1,
        event.start_mark.column + 1,
        text=event.value if scalar else "",
        anchor=getattr(event, "anchor", None),
        tag=None if kind == "document" else getattr(event, "tag", None),
        plain=scalar and event.implicit[0] and not event.style,
        directives=kind == "document" and (event.version not in (None, (1, 2)) or bool(event.tags)),
    )


def _marked(problem: Any) -> Unreadable:  # noqa: ANN401 -- the library is not typed
    mark = problem.problem_mark or problem.context_mark
    why = ", ".join(part for part in (problem.context, problem.problem) if part)
    place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
    return Unreadable("yaml_syntax", why, *place)

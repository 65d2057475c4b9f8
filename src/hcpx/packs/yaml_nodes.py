"""YAML as packs are written in it: the 1.2 core schema, no tags, bounded, and every node knows its place.

Spec 02 section 1. The events of the YAML library are taken and nothing else of it, so that what a plain scalar
means, and what is refused, is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, cast

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from hcpx.vocabulary.finding import Finding
from hcpx.vocabulary.json_text import MAX_DIGITS
from hcpx.vocabulary.text import shown

MAX_BYTES: Final = 1024 * 1024
MAX_ALIASES: Final = 1000
MAX_DEPTH: Final = 64
MAX_EXPANDED: Final = 4 * 1024 * 1024
"""How many characters and nodes a document may have once every alias is written out."""

MAX_MESSAGE: Final = 300
MAX_FINDINGS: Final = 100

Scalar = str | int | float | bool | None
Path = tuple[str | int, ...]


class Node(msgspec.Struct):
    """One value of a document and where it stands; `line` and `column` count from 1.

    `value` is a scalar, a list of nodes, or a dict from key to `Entry`. Nodes behind an alias are shared.
    """

    value: object
    line: int
    column: int
    depth: int = 1
    weight: int = 1

    def plain(self) -> object:
        """Return the JSON value without places."""
        if isinstance(self.value, dict):
            return {key: entry.node.plain() for key, entry in self.entries().items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.items()]
        return self.value

    def entries(self) -> dict[str, Entry]:
        """Return the entries of a mapping; none for anything else."""
        return cast("dict[str, Entry]", self.value) if isinstance(self.value, dict) else {}

    def items(self) -> list[Node]:
        """Return the items of a list; none for anything else."""
        return cast("list[Node]", self.value) if isinstance(self.value, list) else []

    def child(self, step: str | int) -> Node | None:
        """Return the node under a key or at an index, or None."""
        if isinstance(step, str):
            entry = self.entries().get(step)
            return None if entry is None else entry.node
        items = self.items()
        return items[step] if 0 <= step < len(items) else None

    def at(self, path: Path) -> Node | None:
        """Return the node that the path leads to, or None."""
        node: Node | None = self
        for step in path:
            node = None if node is None else node.child(step)
        return node

    def place(self, path: Path) -> tuple[int, int]:
        """Return line and column of what the path names: its key in a mapping, else as near as the document gets."""
        node, place = self, (self.line, self.column)
        for step in path:
            entry = node.entries().get(step) if isinstance(step, str) else None
            below = node.child(step)
            if below is None:
                break
            place = (entry.line, entry.column) if entry is not None else (below.line, below.column)
            node = below
        return place


class Entry(msgspec.Struct):
    """A key's value, and where the key stands."""

    node: Node
    line: int
    column: int


class Document(msgspec.Struct):
    """What a text came to: its root where it could be read, and what is wrong with it."""

    root: Node | None
    findings: list[Finding]


class _Stop(Exception):
    """The document cannot be read any further; the finding is the argument."""


def read_yaml(data: bytes, file: str) -> Document:
    """Read one YAML document; any bytes give a `Document`, none an exception."""
    if len(data) > MAX_BYTES:
        return Document(None, [_finding(file, "yaml_size", "more than 1 MiB", "keep the text below 1 MiB")])
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        line, column = _place_in(data[: problem.start].decode("utf-8", "replace"))
        why = f"byte {data[problem.start]:#04x} is not UTF-8"
        return Document(None, [_finding(file, "yaml_encoding", why, "save the file as UTF-8", line, column)])
    reader = _Reader(file)
    try:
        root = reader.read(text)
    except _Stop as stop:
        return Document(None, [*reader.findings, cast("Finding", stop.args[0])])
    return Document(root, reader.findings)


class _Reader:
    """Builds nodes from events. What can be mended in one place is noted, what makes no sense stops."""

    def __init__(self, file: str) -> None:
        self.findings: list[Finding] = []
        self._file = file
        self._aliases = 0
        self._anchors: dict[str, Node | None] = {}

    def read(self, text: str) -> Node:
        open_nodes: list[_Open] = []
        root: Node | None = None
        for event in _events(text, self._stop):
            if isinstance(event, DocumentStartEvent):
                self._document(event, first=root is None)
            node = self._node(event, open_nodes)
            if node is None:
                continue
            if open_nodes:
                self._put(open_nodes[-1], node)
            else:
                root = node
        if root is None:
            raise self._stop("yaml_empty", "the document is empty", "write the manifest's keys", (0, 0))
        return root

    def _document(self, event: DocumentStartEvent, *, first: bool) -> None:
        if not first:
            raise self._stop(
                "yaml_syntax", "a second document", "keep one document in the file", _mark(event)
            )
        version = cast("object", event.version)
        if version not in (None, (1, 2)) or event.tags:
            mend = "remove the lines that begin with %"
            raise self._stop(
                "yaml_syntax", "a directive that YAML 1.2 core has no use for", mend, _mark(event)
            )

    def _node(self, event: object, open_nodes: list[_Open]) -> Node | None:
        """Return the node that this event completes, or None."""
        if isinstance(event, AliasEvent):
            return self._alias(event)
        if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
            self._tag(event)
            self._anchor(event, None)
            line, column = _mark(event)
            value: object = {} if isinstance(event, MappingStartEvent) else []
            open_nodes.append(_Open(Node(value, line, column), cast("str | None", event.anchor)))
            if len(open_nodes) > MAX_DEPTH:
                raise self._deep((line, column))
            return None
        if isinstance(event, (MappingEndEvent, SequenceEndEvent)):
            closed = open_nodes.pop()
            if closed.anchor is not None:
                self._anchors[closed.anchor] = closed.node
            return closed.node
        if isinstance(event, ScalarEvent):
            node = self._scalar(event)
            self._anchor(event, node)
            return node
        return None

    def _alias(self, event: AliasEvent) -> Node:
        name = cast("str", event.anchor)
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._stop(
                "yaml_alias", f"more than {MAX_ALIASES} alias uses", "write the values out", _mark(event)
            )
        if name not in self._anchors:
            raise self._stop("yaml_alias", f'no anchor "{name}" before this', "name an anchor", _mark(event))
        node = self._anchors[name]
        if node is None:
            raise self._stop("yaml_alias", f'"{name}" holds itself', "write the values out", _mark(event))
        return node

    def _anchor(self, event: NodeEvent, node: Node | None) -> None:
        if event.anchor is not None:
            self._anchors[cast("str", event.anchor)] = node

    def _put(self, parent: _Open, child: Node) -> None:
        node = parent.node
        node.weight += child.weight
        node.depth = max(node.depth, child.depth + 1)
        if node.depth > MAX_DEPTH:
            raise self._deep((child.line, child.column))
        if node.weight > MAX_EXPANDED:
            mend = "use fewer aliases of large values"
            raise self._stop(
                "yaml_alias", "too large once its aliases are written out", mend, (child.line, child.column)
            )
        if isinstance(node.value, list):
            node.items().append(child)
        elif parent.key is None:
            parent.key = child
        else:
            self._entry(node.entries(), parent.key, child)
            parent.key = None

    def _entry(self, entries: dict[str, Entry], key: Node, value: Node) -> None:
        place = (key.line, key.column)
        if not isinstance(key.value, str):
            kind = "a key" if isinstance(key.value, (list, dict)) else f"the key {_word(key.value)}"
            self._note("key_not_text", f"{kind} is not text", "write the key in quotes", place)
            return
        if key.value in entries:
            first = entries[key.value]
            why = f'the key "{key.value}" stands here a second time; the first is on line {first.line}'
            self._note("duplicate_key", why, "keep one of the two", place)
            return
        entries[key.value] = Entry(value, *place)

    def _scalar(self, event: ScalarEvent) -> Node:
        self._tag(event)
        line, column = _mark(event)
        text = cast("str", event.value)
        plain = cast("tuple[bool, bool]", event.implicit)[0] and not event.style
        value = self._plain_value(text, (line, column)) if plain else text
        if isinstance(value, str):
            self._text(value, (line, column))
        return Node(value, line, column, weight=len(text) + 1)

    def _plain_value(self, text: str, place: tuple[int, int]) -> Scalar:
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > MAX_DIGITS and _INTEGER.fullmatch(text) is not None:
            self._note(
                "bad_number", f"an integer of more than {MAX_DIGITS} digits", "write it in quotes", place
            )
            return 0
        number = _number(text)
        if isinstance(number, int) and abs(number) >= 10**MAX_DIGITS:
            number = float("inf")
        if isinstance(number, float) and number - number != 0.0:
            self._note("bad_number", f"{text[:40]} is not a JSON number", "write it in quotes", place)
            return 0
        return text if number is None else number

    def _text(self, text: str, place: tuple[int, int]) -> None:
        if "\0" in text:
            self._note("bad_text", "a text holds NUL", "remove the NUL", place)
        elif any("\ud800" <= char <= "\udfff" for char in text):
            self._note("bad_text", "a text holds half a surrogate pair", "write the character itself", place)

    def _tag(self, event: NodeEvent) -> None:
        tag = cast("object", getattr(event, "tag", None))
        if tag is not None:
            mend = "remove the tag: what a value is follows from how it is written"
            self._note("yaml_tag", f"the tag {tag}", mend, _mark(event))

    def _deep(self, place: tuple[int, int]) -> _Stop:
        return self._stop("yaml_depth", f"nested deeper than {MAX_DEPTH}", "nest less", place)

    def _note(self, code: str, message: str, mend: str, place: tuple[int, int]) -> None:
        if len(self.findings) >= MAX_FINDINGS:
            raise self._stop("too_many", "and more of the kind", "mend those before this one first", place)
        self.findings.append(_finding(self._file, code, message, mend, *place))

    def _stop(self, code: str, message: str, mend: str, place: tuple[int, int]) -> _Stop:
        return _Stop(_finding(self._file, code, message, mend, *place))


class _Open(msgspec.Struct):
    """A mapping or list whose end has not come; `key` is a mapping's key that waits for its value."""

    node: Node
    anchor: str | None
    key: Node | None = None


def _events(text: str, stop: Callable[[str, str, str, tuple[int, int]], _Stop]) -> Iterator[object]:
    try:
        yield from cast("Iterator[object]", YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        why = ", ".join(part for part in (problem.context, problem.problem) if part)
        raise stop("yaml_syntax", why, "see the YAML 1.2 specification", place) from None
    except ReaderError as problem:
        place = _place_in(text[: problem.position])
        char = shown(text[problem.position : problem.position + 1])
        raise stop(
            "yaml_encoding", f"the character {char} cannot stand in YAML", "remove it", place
        ) from None
    except YAMLError as problem:
        raise stop("yaml_syntax", str(problem), "see the YAML 1.2 specification", (0, 0)) from None
    except Exception as problem:  # noqa: BLE001 -- the library fails in ways of its own on hostile text
        why = f"the YAML library gave up: {type(problem).__name__}"
        raise stop("yaml_syntax", why, "see the YAML 1.2 specification", (0, 0)) from None


_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def _number(text: str) -> int | float | None:
    """Return the number that a plain scalar stands for by the core schema, or None."""
    if _DECIMAL.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return float(text) if _FLOAT.fullmatch(text) else None


def _word(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)[:40]


def _mark(event: object) -> tuple[int, int]:
    mark = cast("object", getattr(event, "start_mark", None))
    return (getattr(mark, "line", -1) + 1, getattr(mark, "column", -1) + 1)


def _place_in(before: str) -> tuple[int, int]:
    """Return line and column of what follows this text."""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _finding(file: str, code: str, message: str, mend: str, line: int = 0, column: int = 0) -> Finding:
    return Finding(code, "error", shown(message[:MAX_MESSAGE]), mend, file, line, column)

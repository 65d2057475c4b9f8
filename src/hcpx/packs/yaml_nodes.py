"""YAML as packs are written in it: the 1.2 core schema, no tags, bounded, and every node knows its place.

Spec 02 section 1. The library gives events and nothing else, so that what a plain scalar means, and what is
refused, is decided here.
"""

from __future__ import annotations

import re
from typing import Final, cast

import msgspec

from hcpx.vocabulary.finding import Finding
from hcpx.vocabulary.json_text import MAX_DIGITS, has_surrogate
from hcpx.vocabulary.text import shown

from .yaml_events import Event, Unreadable, events, place_behind

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
        """Return line and column of what the path names (of a mapping its key), or as near as there is."""
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


def read_yaml(data: bytes, file: str) -> Document:
    """Read one YAML document; any bytes give a `Document`, none an exception."""
    if len(data) > MAX_BYTES:
        return Document(None, [_finding(file, "yaml_size", "more than 1 MiB", "keep the text below 1 MiB")])
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        place = place_behind(data[: problem.start].decode("utf-8", "replace"))
        why = f"byte {data[problem.start]:#04x} is not UTF-8"
        return Document(None, [_finding(file, "yaml_encoding", why, "save the file as UTF-8", *place)])
    reader = _Reader(file)
    try:
        root = reader.read(text)
    except Unreadable as problem:
        mend = _MENDS.get(problem.code, "see the YAML 1.2 specification")
        last = _finding(file, problem.code, str(problem), mend, problem.line, problem.column)
        return Document(None, [*reader.findings, last])
    return Document(root, reader.findings)


_MENDS: Final = {
    "yaml_encoding": "remove it",
    "yaml_empty": "write the keys that are asked for",
    "yaml_alias": "write the values out",
    "yaml_depth": "nest less",
    "too_many": "mend those before this one first",
}


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
        for event in events(text):
            if event.kind == "document":
                self._document(event, first=root is None)
                continue
            node = self._node(event, open_nodes)
            if node is None:
                continue
            if open_nodes:
                self._put(open_nodes[-1], node)
            else:
                root = node
        if root is None:
            raise Unreadable("yaml_empty", "the document is empty")
        return root

    def _document(self, event: Event, *, first: bool) -> None:
        if not first:
            raise Unreadable("yaml_syntax", "a second document", event.line, event.column)
        if event.directives:
            why = "a directive that YAML 1.2 core has no use for"
            raise Unreadable("yaml_syntax", why, event.line, event.column)

    def _node(self, event: Event, open_nodes: list[_Open]) -> Node | None:
        """Return the node that this event completes, or None."""
        if event.kind == "alias":
            return self._alias(event)
        if event.kind == "end":
            closed = open_nodes.pop()
            self._anchor(closed.anchor, closed.node)
            return closed.node
        if event.tag is not None:
            mend = "remove the tag: what a value is follows from how it is written"
            self._note("yaml_tag", f"the tag {event.tag}", mend, (event.line, event.column))
        if event.kind == "scalar":
            node = self._scalar(event)
            self._anchor(event.anchor, node)
            return node
        self._anchor(event.anchor, None)
        value: object = {} if event.kind == "mapping" else []
        open_nodes.append(_Open(Node(value, event.line, event.column), event.anchor))
        if len(open_nodes) > MAX_DEPTH:
            raise _deep(event.line, event.column)
        return None

    def _alias(self, event: Event) -> Node:
        self._aliases += 1
        name = event.anchor or ""
        if self._aliases > MAX_ALIASES:
            why = f"more than {MAX_ALIASES:,} alias uses"
        elif name not in self._anchors:
            why = f'no anchor "{name}" before this'
        else:
            node = self._anchors[name]
            if node is not None:
                return node
            why = f'"{name}" holds itself'
        raise Unreadable("yaml_alias", why, event.line, event.column)

    def _anchor(self, name: str | None, node: Node | None) -> None:
        """Note what an anchor stands for; None while that is not complete."""
        if name is not None:
            self._anchors[name] = node

    def _put(self, parent: _Open, child: Node) -> None:
        node = parent.node
        node.weight += child.weight
        node.depth = max(node.depth, child.depth + 1)
        if node.depth > MAX_DEPTH:
            raise _deep(child.line, child.column)
        if node.weight > MAX_EXPANDED:
            raise Unreadable("yaml_alias", "too large once its aliases are written out", child.line, child.column)
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
        elif key.value in entries:
            first = entries[key.value]
            why = f'the key "{key.value}" stands here a second time; the first is on line {first.line}'
            self._note("duplicate_key", why, "keep one of the two", place)
        else:
            entries[key.value] = Entry(value, *place)

    def _scalar(self, event: Event) -> Node:
        place = (event.line, event.column)
        value = self._plain_value(event.text, place) if event.plain else event.text
        if isinstance(value, str):
            self._text(value, place)
        return Node(value, *place, weight=len(event.text) + 1)

    def _plain_value(self, text: str, place: tuple[int, int]) -> Scalar:
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > MAX_DIGITS and _INTEGER.fullmatch(text) is not None:
            number: int | float | None = float("inf")
        else:
            number = _number(text)
        if isinstance(number, int) and abs(number) >= _TOO_LARGE:
            number = float("inf")
        if isinstance(number, float) and number - number != 0.0:
            why = f"{text[:40]} is not a number of JSON, or has more than {MAX_DIGITS:,} digits"
            self._note("bad_number", why, "write it in quotes", place)
            return 0
        return text if number is None else number

    def _text(self, text: str, place: tuple[int, int]) -> None:
        if "\0" in text:
            self._note("bad_text", "a text holds NUL", "remove the NUL", place)
        elif not text.isascii() and has_surrogate(text):
            self._note("bad_text", "a text holds half a surrogate pair", "write the character itself", place)

    def _note(self, code: str, message: str, mend: str, place: tuple[int, int]) -> None:
        if len(self.findings) >= MAX_FINDINGS:
            raise Unreadable("too_many", "and more of the kind", *place)
        self.findings.append(_finding(self._file, code, message, mend, *place))


class _Open(msgspec.Struct):
    """A mapping or list whose end has not come; `key` is a mapping's key that waits for its value."""

    node: Node
    anchor: str | None
    key: Node | None = None


def _deep(line: int, column: int) -> Unreadable:
    return Unreadable("yaml_depth", f"nested deeper than {MAX_DEPTH}", line, column)


_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TOO_LARGE: Final = 10**MAX_DIGITS
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
        return int(text, 0)
    if _HEX.fullmatch(text):
        return int(text, 0)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return float(text) if _FLOAT.fullmatch(text) else None


def _word(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)[:40]


def _finding(file: str, code: str, message: str, mend: str, line: int = 0, column: int = 0) -> Finding:
    return Finding(code, "error", shown(message[:MAX_MESSAGE]), mend, file, line, column)

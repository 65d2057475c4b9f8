"""Reads a tar archive as a stream of entries, header by header, so that nothing in it can ask for memory.

The library's reader loads extended headers of any size whole and trusts their numbers, and a pack may come
from anywhere. Known are the ustar, pax and GNU forms that tar programs write; anything else is refused.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import IO, Final

from .archive_entry import BadArchive, Entry

_BLOCK: Final = 512
_CHUNK: Final = 256 * 1024
_MAX_EXTENDED: Final = 64 * 1024
_FILE: Final = frozenset({b"0", b"\0", b"7"})
_TYPES: Final = {b"1": "hard", b"2": "link", b"5": "folder"}
_DEVICES: Final = {b"3": "a character device", b"4": "a block device", b"6": "a FIFO"}


def tar_entries(file: IO[bytes]) -> Iterator[Entry]:
    """Yield the entries of a tar stream; raises `BadArchive`, and what reading the stream raises.

    The content of an entry is read while it is consumed; what is left of it is skipped.
    """
    names: dict[str, bytes] = {}
    while (header := _header(file)) is not None:
        kind, size = header[156:157], _number(header[124:136], "size")
        if kind in (b"x", b"L", b"K"):
            names.update(_extended(kind, _content(file, size)))
            continue
        if kind == b"g":
            _content(file, size)
            continue
        entry, rest = _entry(file, header, kind, names)
        names = {}
        yield entry
        rest.skip()


class _Content:
    """The content of one entry: an iterator of chunks that knows what is left, padding included."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size
        self._padding = -size % _BLOCK

    def __iter__(self) -> Iterator[bytes]:
        while self._left:
            chunk = _exactly(self._file, min(self._left, _CHUNK))
            self._left -= len(chunk)
            yield chunk

    def skip(self) -> None:
        for _ in self:
            pass
        _exactly(self._file, self._padding)


def _header(file: IO[bytes]) -> bytes | None:
    """Return the next header, or None at the end of the archive."""
    header = file.read(_BLOCK)
    if not header or header == bytes(_BLOCK):
        return None
    if len(header) < _BLOCK:
        raise BadArchive("the archive ends in the middle of a header")
    stored = _number(header[148:156], "checksum")
    if stored != sum(header) - sum(header[148:156]) + 8 * 32:
        raise BadArchive("a header's checksum is wrong")
    return header


def _entry(file: IO[bytes], header: bytes, kind: bytes, names: dict[str, bytes]) -> tuple[Entry, _Content]:
    size = _number(header[124:136], "size")
    if "size" in names:
        size = _decimal(names["size"])
    if any(key.startswith("GNU.sparse") for key in names) or kind == b"S":
        raise BadArchive("the archive holds a sparse file")
    prefix = _until_nul(header[345:500]) if header[257:263] == b"ustar\0" else b""
    name = names.get("path") or (prefix + b"/" if prefix else b"") + _until_nul(header[:100])
    target = names.get("linkpath") or _until_nul(header[157:257])
    path = _text(name)
    if kind in _DEVICES:
        raise BadArchive(f"{path} is {_DEVICES[kind]}")
    if kind not in _TYPES and kind not in _FILE:
        raise BadArchive(f"{path} is of an unknown kind")
    shape = _TYPES.get(kind, "file")
    if shape == "file" and path.endswith("/"):
        shape = "folder"
    mode = _number(header[100:108], "mode") & 0o7777
    # A link's or folder's size is not followed by content, whatever it says.
    content = _Content(file, size if shape == "file" else 0)
    return Entry(path, shape, stat.S_IMODE(mode), _text(target), content), content


def _extended(kind: bytes, content: bytes) -> dict[str, bytes]:
    """Return what a pax or GNU header says of the next entry."""
    if kind != b"x":
        return {"path" if kind == b"L" else "linkpath": _until_nul(content)}
    records: dict[str, bytes] = {}
    while content:
        digits, blank, rest = content.partition(b" ")
        length = _decimal(digits) - len(digits) - 1
        record = rest[:length]
        whole = blank and 3 <= length == len(record)
        if not whole or not record.endswith(b"\n") or b"=" not in record:
            raise BadArchive("an extended header is damaged")
        key, _, value = record[:-1].partition(b"=")
        if b"\0" in value:
            raise BadArchive("an extended header holds NUL")
        records[key.decode("utf-8", "replace")] = value
        content = rest[length:]
    return records


def _content(file: IO[bytes], size: int) -> bytes:
    if size > _MAX_EXTENDED:
        raise BadArchive("an extended header is larger than any name")
    content = _exactly(file, size)
    _exactly(file, -size % _BLOCK)
    return content


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size) if size else b""
    while len(data) < size:
        more = file.read(size - len(data))
        if not more:
            raise BadArchive("the archive ends too early")
        data += more
    return data


def _number(field: bytes, what: str) -> int:
    """Return an octal number; the binary form is for sizes that no pack has."""
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if not digits:
        return 0
    if not digits.isdigit() or set(digits) & {ord("8"), ord("9")}:
        raise BadArchive(f"a header's {what} is no number, or too large")
    return int(digits, 8)


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > 12:
        raise BadArchive("an extended header holds a bad number")
    return int(digits)


def _until_nul(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")

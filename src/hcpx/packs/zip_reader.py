"""Reads a zip archive as a stream of entries; only what a pack needs of the format (Spec 02 section 3)."""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import IO, Final

from .archive_entry import BadArchive, Entry
from .files import MAX_BYTES, MAX_ENTRIES

_COMPLAINTS: Final = (
    *(zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError),
    *(struct.error, LookupError),
)
_CHUNK: Final = 256 * 1024
_END: Final = b"PK\5\6"
_END_SIZE: Final = 22
_MAX_COMMENT: Final = 65535
_MAX_LIST: Final = 4 * 1024 * 1024
_MAX_TARGET: Final = 4096
_ENCRYPTED: Final = 0x1
_UNIX: Final = 3


def zip_entries(file: IO[bytes]) -> Iterator[Entry]:
    """Yield the entries of a zip file in the order of its list; raises `BadArchive`."""
    _check_list(file)
    with _damage_told():
        archive = zipfile.ZipFile(file)
    with archive:
        for info in _listed(archive):
            yield _entry(archive, info)


@contextmanager
def _damage_told() -> Generator[None]:
    """Turn the library's many complaints into the one that a reader makes."""
    try:
        yield
    except _COMPLAINTS as why:
        raise BadArchive(f"the zip archive is damaged: {why}") from None


def _listed(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    listed = archive.infolist()
    if len(listed) > MAX_ENTRIES:
        raise BadArchive(f"more than {MAX_ENTRIES:,} entries")
    if any(info.header_offset < 0 for info in listed):
        raise BadArchive("the zip archive is damaged: an entry lies before its beginning")
    return listed


def _check_list(file: IO[bytes]) -> None:
    """Refuse an archive whose list of entries alone is larger than a pack's can be: it is read whole."""
    end = file.seek(0, 2)
    if end > MAX_BYTES:
        raise BadArchive(f"the archive is larger than {MAX_BYTES // 1024 // 1024} MiB")
    file.seek(max(0, end - _END_SIZE - _MAX_COMMENT))
    tail = file.read()
    start = len(tail) - _END_SIZE
    if not (start >= 0 and tail[start:].startswith(_END) and tail.endswith(b"\0\0")):
        start = tail.rfind(_END)
    record = tail[start : start + _END_SIZE] if start >= 0 else b""
    if len(record) < _END_SIZE:
        raise BadArchive("the zip archive has no list of entries")
    if int.from_bytes(record[12:16], "little") > _MAX_LIST:
        raise BadArchive("the zip archive's list of entries is too large")
    file.seek(0)


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    path = info.orig_filename
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    kind = stat.S_IFMT(mode)
    if info.flag_bits & _ENCRYPTED:
        raise BadArchive(f"{path!a} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadArchive(f"{path!a} is compressed in a way that is not read here")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        raise BadArchive(f"{path!a} is neither a file, a folder nor a link")
    if kind == stat.S_IFLNK:
        return Entry(path, "link", 0o777, _target(archive, info), ())
    if kind == stat.S_IFDIR or path.endswith("/"):
        return Entry(path, "folder", 0o755, "", ())
    return Entry(path, "file", stat.S_IMODE(mode), "", _content(archive, info))


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with _damage_told():
        file = archive.open(info)
    with file:
        while chunk := _chunk(file, _CHUNK):
            yield chunk


def _chunk(file: IO[bytes], size: int) -> bytes:
    with _damage_told():
        return file.read(size)


def _target(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    with _damage_told(), archive.open(info) as file:
        target = file.read(_MAX_TARGET + 1)
    if len(target) > _MAX_TARGET or b"\0" in target:
        raise BadArchive(f"the target of the link {info.orig_filename!a} is no path")
    return target.decode("utf-8", "surrogateescape")

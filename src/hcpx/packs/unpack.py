"""Unpacks an archive into a private folder; what could land elsewhere is refused (Spec 02 section 3)."""

from __future__ import annotations

import gzip
import os
import stat
import unicodedata
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import IO, Final, cast

import msgspec

from hcpx.vocabulary.text import shown

from .archive_entry import BadArchive, Entry
from .files import MAX_BYTES, MAX_ENTRIES, name_fault
from .tar_reader import tar_entries
from .zip_reader import zip_entries

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK"
_MAGIC_AT: Final = 257


def unpack(archive: str, folder: str) -> None:
    """Unpack a tar, tar.gz or zip archive into the empty private `folder`; raises `BadArchive` or `OSError`.

    Links are made last, so that nothing is ever written through one; whether they lead out of the pack is for
    the inventory of the finished folder to say.
    """
    landing = _Landing(folder)
    with _entries(archive) as entries:
        for number, entry in enumerate(entries):
            if number >= MAX_ENTRIES:
                raise BadArchive(f"more than {MAX_ENTRIES:,} entries")
            landing.take(entry)
    landing.finish()


@contextmanager
def _entries(archive: str) -> Generator[Iterable[Entry]]:
    """Give the entries of an archive, whatever its name says of its format."""
    try:
        opened = open(archive, "rb")  # noqa: SIM115 -- closed by the block below
    except OSError as problem:
        raise BadArchive(f"the archive cannot be read: {problem.strerror or problem}") from None
    try:
        with opened as file:
            head = file.read(_MAGIC_AT + 8)
            file.seek(0)
            if head.startswith(_ZIP):
                yield zip_entries(file)
            elif head.startswith(_GZIP):
                with gzip.GzipFile(fileobj=file) as plain:
                    yield tar_entries(cast("IO[bytes]", plain))
            elif head[_MAGIC_AT:].startswith(b"ustar"):
                yield tar_entries(file)
            else:
                raise BadArchive("neither tar, tar.gz nor zip")
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise BadArchive(f"the compressed data is damaged: {problem}") from None


class _Landing:
    """The folder that is filled, and what is in it so far."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._left = MAX_BYTES
        self._kinds: dict[str, str] = {"": "folder"}
        self._folded: dict[str, str] = {}
        self._links: list[tuple[str, str]] = []

    def take(self, entry: Entry) -> None:
        """Put one entry into the folder."""
        path = _clean(entry)
        if not path:
            return
        self._place(path, entry.shape)
        if entry.shape == "link":
            self._links.append((path, entry.target))
        elif entry.shape == "hard":
            self._copy(path, entry)
        elif entry.shape == "file":
            self._write(path, entry.mode, entry.content)

    def finish(self) -> None:
        """Make the links."""
        for path, target in self._links:
            self._make_parents(path)
            os.symlink(target, os.path.join(self._folder, path))

    def _place(self, path: str, shape: str) -> None:
        """Note an entry; a second one of that name, however it is spelt, is refused."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            self._folder_at("/".join(parts[:depth]))
        if shape == "folder":
            self._folder_at(path)
            return
        self._spelt_alike(path)
        if path in self._kinds:
            raise BadArchive(f"{shown(path)} stands in the archive twice")
        self._kinds[path] = shape

    def _folder_at(self, path: str) -> None:
        self._spelt_alike(path)
        if self._kinds.setdefault(path, "folder") != "folder":
            raise BadArchive(f"{shown(path)} stands in the archive twice, as a file and as a folder")
        if len(self._kinds) > MAX_ENTRIES:
            raise BadArchive(f"more than {MAX_ENTRIES:,} entries")

    def _spelt_alike(self, path: str) -> None:
        other = self._folded.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            raise BadArchive(f"{shown(path)} and {shown(other)} differ by case or accents only")

    def _copy(self, path: str, entry: Entry) -> None:
        target = _clean(msgspec.structs.replace(entry, path=entry.target))
        if target == path or self._kinds.get(target) not in ("file", "hard"):
            raise BadArchive(f"{shown(path)} is a hard link to {shown(entry.target)}, no file before it")
        with open(os.path.join(self._folder, target), "rb") as source:
            mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode)
            self._write(path, mode, iter(lambda: source.read(256 * 1024), b""))

    def _write(self, path: str, mode: int, content: Iterable[bytes]) -> None:
        if mode & (stat.S_ISUID | stat.S_ISGID):
            raise BadArchive(f"{shown(path)} has a setuid or setgid bit")
        self._make_parents(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(os.path.join(self._folder, path), flags, 0o700 if mode & 0o111 else 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for chunk in content:
                self._left -= len(chunk)
                if self._left < 0:
                    raise BadArchive(f"more than {MAX_BYTES // 1024 // 1024} MiB unpacked")
                file.write(chunk)

    def _make_parents(self, path: str) -> None:
        parent = os.path.dirname(os.path.join(self._folder, path))
        os.makedirs(parent, mode=0o700, exist_ok=True)


def _clean(entry: Entry) -> str:
    """Return an entry's path below the folder (empty for the folder itself), or raise `BadArchive`."""
    path = entry.path
    if path.startswith("/"):
        raise BadArchive(f"{shown(path)} is an absolute name")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise BadArchive(f"{shown(path)} leads out of the archive")
    fault = name_fault("/".join(parts))
    if fault is not None or "\\" in path:
        what = fault[1] if fault is not None else "the file's name holds a backslash"
        visible = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        raise BadArchive(f"{shown(visible[:200])}: {what}")
    return "/".join(parts)

"""The files of a pack directory: what there is, what each holds, what cannot be in a pack (Spec 02)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

import msgspec

from hcpx.vocabulary.finding import MANIFEST, Finding
from hcpx.vocabulary.text import shown

MAX_ENTRIES: Final = 10_000
MAX_BYTES: Final = 256 * 1024 * 1024
MAX_NAME: Final = 255
MAX_PATH: Final = 1024
LEFT_OUT: Final = frozenset({".git", ".hg", ".svn", ".jj"})
"""Folders of version control at the pack's root: no part of the pack, never copied, never read by hcpx."""

_CHUNK: Final = 256 * 1024


class PackFile(msgspec.Struct, frozen=True):
    """One file as the digest sees it: `look` is `file:<sha256>`, `exec:<sha256>` or `link:<target>`."""

    path: str
    look: str
    size: int


class Inventory(msgspec.Struct, frozen=True):
    """All files of a pack, sorted by path, and why some of them cannot be part of one."""

    files: tuple[PackFile, ...]
    findings: tuple[Finding, ...]

    def looks(self) -> dict[str, str]:
        """Return path to look of every file but the manifest."""
        return {file.path: file.look for file in self.files if file.path != MANIFEST}


class Found(msgspec.Struct, frozen=True):
    """One directory entry that is no directory; `path` is relative to the root, with slashes."""

    path: str
    status: os.stat_result


class TooMuch(Exception):
    """A pack holds more entries or bytes than Spec 02 section 3 allows; the message says which."""


def walk(root: str) -> Iterator[Found]:
    """Yield every entry below `root` that is no directory, no link followed; raises `TooMuch`, `OSError`."""
    count = 0
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                if not folder and entry.name in LEFT_OUT:
                    continue
                count += 1
                if count > MAX_ENTRIES:
                    raise TooMuch(f"more than {MAX_ENTRIES:,} entries")
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                else:
                    yield Found(path, entry.stat(follow_symlinks=False))


def take_inventory(root: str) -> Inventory:
    """Look at every file of a pack directory; raises `OSError` where the directory itself cannot be read."""
    found = sorted(walk(root), key=lambda one: one.path.encode("utf-8", "surrogateescape"))
    findings = list(_clashes(found))
    files: list[PackFile] = []
    total = 0
    real_root = os.path.realpath(root)
    for one in found:
        fault = name_fault(one.path) or kind_fault(one.status)
        if fault is None and stat.S_ISLNK(one.status.st_mode):
            fault = link_fault(real_root, one.path)
        if fault is None:
            total += one.status.st_size
            if total > MAX_BYTES:
                raise TooMuch(f"more than {MAX_BYTES // 1024 // 1024} MiB")
            fault = _add(root, one, files)
        if fault is not None:
            findings.append(finding(one.path, *fault))
    return Inventory(tuple(files), tuple(findings))


def signature(root: str) -> str | None:
    """Return a text that differs whenever a file of the folder was touched; None where none can be trusted.

    It is made of what `lstat` says of every entry, so that nothing is read. Take it before the files are
    read: a change of the very tick in which an earlier one was looked at would not show, so that a folder
    that was written to just now has no signature yet; nor has one that cannot be read whole.
    """
    import hashlib
    import time

    digest = hashlib.sha256()
    now = time.time_ns()
    youngest, coarse = 0, True
    try:
        found = sorted(walk(root), key=lambda one: one.path.encode("utf-8", "surrogateescape"))
    except (OSError, TooMuch):
        return None
    for one in found:
        is_ = one.status
        parts = (is_.st_mode, is_.st_size, is_.st_mtime_ns, is_.st_ctime_ns, is_.st_ino, is_.st_dev)
        digest.update(f"{one.path!a}{parts}".encode())
        youngest = max(youngest, is_.st_ctime_ns)
        coarse = coarse and is_.st_ctime_ns % 1_000_000_000 == 0
    return None if youngest > now - (_COARSE_NS if coarse else _TICK_NS) else digest.hexdigest()


_TICK_NS: Final = 100_000_000
"""More than the tick by which any common file system counts time."""
_COARSE_NS: Final = 2_100_000_000
"""The same where it counts in seconds or pairs of them."""


def name_fault(path: str) -> tuple[str, str, str] | None:
    """Return code, message and mend where a file of that path cannot be part of a pack, or None."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "odd_name", "the file's name is not UTF-8", "rename it"
    if not path.isprintable():
        return "odd_name", "the file's name holds a control or invisible character", "rename it"
    if len(path.encode()) > MAX_PATH or any(len(part.encode()) > MAX_NAME for part in path.split("/")):
        return "odd_name", "the file's name is too long", "rename it"
    return None


def link_fault(real_root: str, path: str) -> tuple[str, str, str] | None:
    """Return what is wrong with the link at `path` below the real path of the pack directory, or None."""
    target = os.readlink(os.path.join(real_root, path))
    mend = "copy what it points to, or point to a file below the pack"
    if os.path.isabs(target):
        return "link_leaves_pack", f"the link points to the absolute path {target}", mend
    real = os.path.realpath(os.path.join(real_root, path))
    if not inside(real_root, real):
        return "link_leaves_pack", f"the link leads out of the pack, to {target}", mend
    if not os.path.lexists(real) or os.path.islink(real):
        return "link_broken", f"the link leads nowhere: {target}", "remove it, or mend its target"
    if os.path.relpath(real, real_root).split(os.sep)[0] in LEFT_OUT:
        return "link_leaves_pack", f"the link leads to {target}, which is no part of the pack", mend
    return name_fault(target) and ("odd_name", "the link's target has an odd name", "rename it")


def inside(real_root: str, real: str) -> bool:
    """Tell whether one real path lies at or below another, by path parts."""
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def open_file(root: str, path: str) -> int:
    """Open a regular file below `root` for reading, no link followed at its end; raises `OSError`."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(os.path.join(root, path), flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    message = f"not a regular file: {path}"
    raise OSError(message)


def read_file(root: str, path: str, limit: int) -> bytes:
    """Return at most `limit` + 1 bytes of a regular file, so that a longer one shows; raises `OSError`."""
    with os.fdopen(open_file(root, path), "rb") as file:
        return file.read(limit + 1)


def _add(root: str, one: Found, files: list[PackFile]) -> tuple[str, str, str] | None:
    if stat.S_ISLNK(one.status.st_mode):
        target = os.readlink(os.path.join(root, one.path))
        files.append(PackFile(one.path, f"link:{target}", len(target)))
        return None
    try:
        hexdigest, size = _hashed(root, one.path)
    except OSError as problem:
        return unreadable(problem)
    kind = "exec" if one.status.st_mode & 0o111 else "file"
    files.append(PackFile(one.path, f"{kind}:{hexdigest}", size))
    return None


def unreadable(problem: OSError) -> tuple[str, str, str]:
    """Return code, message and mend for a file that cannot be read."""
    return "unreadable", f"the file cannot be read: {problem.strerror or problem}", "make it readable"


def _hashed(root: str, path: str) -> tuple[str, int]:
    import hashlib

    digest, size = hashlib.sha256(), 0
    with os.fdopen(open_file(root, path), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise TooMuch(f"more than {MAX_BYTES // 1024 // 1024} MiB")
    return digest.hexdigest(), size


def kind_fault(status: os.stat_result) -> tuple[str, str, str] | None:
    """Return code, message and mend where an entry of that kind cannot be part of a pack, or None."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        if mode & (stat.S_ISUID | stat.S_ISGID):
            return "setuid_file", "the file has a setuid or setgid bit", "chmod ug-s it"
        return None
    if stat.S_ISLNK(mode):
        return None
    return "odd_file", "neither a file, a folder nor a link", "remove it"


def _clashes(found: list[Found]) -> Iterator[Finding]:
    """Find names that one file system keeps apart and another does not."""
    import unicodedata

    seen: dict[str, str] = {}
    for one in found:
        parts = one.path.split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            folded = unicodedata.normalize("NFC", path).casefold()
            other = seen.setdefault(folded, path)
            if other != path:
                why = f"the name differs from {other} by case or accents only"
                yield finding(path, "name_clash", why, "rename one of the two")


def finding(path: str, code: str, message: str, mend: str) -> Finding:
    """Make the error about a file as a whole."""
    visible = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Finding(code, "error", shown(message), mend, shown(visible))

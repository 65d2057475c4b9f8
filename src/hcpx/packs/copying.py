"""Copies a pack folder, makes the copy durable and read-only, and takes it away again (Spec 02 section 3)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

from hcpx.vocabulary.finding import Finding

from .files import MAX_BYTES, Found, TooMuch, finding, kind_fault, open_file, unreadable, walk

_CHUNK: Final = 256 * 1024


class Unfit(Exception):
    """Why a folder cannot be copied at all; the message says it."""


def copy_folder(source: str, target: str) -> list[Finding]:
    """Copy the files and links of a pack into the empty `target`; raises `Unfit`, `TooMuch`, `OSError`.

    Returns a finding for each entry that cannot be part of a pack and was left out. Links are copied as
    links; whether they lead out is for the inventory of the copy to say. Version control's own folders and
    empty folders are no part of a pack.
    """
    findings: list[Finding] = []
    left = MAX_BYTES
    for found in found_in(source):
        fault = kind_fault(found.status)
        if fault is not None:
            findings.append(finding(found.path, *fault))
            continue
        landing = os.path.join(target, found.path)
        os.makedirs(os.path.dirname(landing), mode=0o700, exist_ok=True)
        if stat.S_ISLNK(found.status.st_mode):
            os.symlink(os.readlink(os.path.join(source, found.path)), landing)
            continue
        try:
            original = open_file(source, found.path)
        except OSError as problem:
            findings.append(finding(found.path, *unreadable(problem)))
            continue
        left -= _copy_file(original, landing, left)
    return findings


def found_in(source: str) -> list[Found]:
    """Return what there is to copy; raises `Unfit` where the folder itself cannot be read."""
    try:
        return list(walk(source))
    except OSError as problem:
        raise Unfit(problem.strerror or str(problem)) from None


def _copy_file(original: int, landing: str, most: int) -> int:
    """Copy one open file with its run bit and return its size."""
    size = 0
    with os.fdopen(original, "rb", buffering=0) as file:
        mode = 0o700 if os.fstat(file.fileno()).st_mode & 0o111 else 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(landing, flags, mode), "wb") as copy:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > most:
                    raise TooMuch(f"more than {MAX_BYTES // 1024 // 1024} MiB")
                copy.write(chunk)
    return size


def seal(folder: str) -> None:
    """Make every file read-only and durable, and every folder below the root too."""
    for path, folders, names in _bottom_up(folder):
        for name in names:
            file = os.path.join(path, name)
            if not os.path.islink(file):
                mode = os.stat(file).st_mode
                _flush(file, 0o555 if mode & 0o111 else 0o444)
        for name in folders:
            # Links to folders are listed among the folders.
            if not os.path.islink(os.path.join(path, name)):
                _flush(os.path.join(path, name), 0o555)
    _flush(folder, 0o700)


def lock_root(folder: str) -> None:
    """Make the root of a sealed copy read-only; it has to be writable until it was moved to its place."""
    _flush(folder, 0o555)


def take_away(folder: str) -> None:
    """Remove a tree that may be read-only; what is missing already is fine."""
    for path, folders, names in _bottom_up(folder):
        os.chmod(path, 0o700)
        for name in names:
            os.unlink(os.path.join(path, name))
        for name in folders:
            below = os.path.join(path, name)
            if os.path.islink(below):
                os.unlink(below)
            else:
                os.rmdir(below)
    if os.path.islink(folder) or os.path.isfile(folder):
        os.unlink(folder)
    elif os.path.isdir(folder):
        os.rmdir(folder)


def _bottom_up(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    yield from os.walk(folder, topdown=False, followlinks=False)


def _flush(path: str, mode: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

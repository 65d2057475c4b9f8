"""Removes a folder that a program has had its way with."""

from __future__ import annotations

import os
from typing import Final

_ROUNDS: Final = 3
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(path: str) -> bool:
    """Remove a folder of ours with all that is in it, links not followed; tell whether it has gone.

    Any depth, any number of entries, any names, folders without rights: folders inside of folders are moved
    up first, so that two descriptors are enough and no path ever gets too long.
    """
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return _emptied(path)
    return True


def _emptied(path: str) -> bool:
    try:
        _open_up(path)
        top = os.open(path, _FOLDER)
    except OSError:
        return False
    try:
        for _ in range(_ROUNDS):
            _flatten(top)
            try:
                os.rmdir(path)
            except OSError:
                continue
            return True
    except OSError:
        return False
    finally:
        os.close(top)
    return False


def _flatten(top: int) -> None:
    """Remove what is in a folder, until nothing in it can be removed or moved any more."""
    stuck: set[bytes] = set()
    while folders := [name for name in _unlinked(top) if name not in stuck]:
        for name in folders:
            moved = _moved_up(top, name)
            try:
                os.rmdir(name, dir_fd=top)
            except OSError:
                if not moved:
                    stuck.add(name)


def _moved_up(top: int, name: bytes) -> bool:
    """Remove the files of a folder in `top` and move its folders beside it; tell whether any was moved."""
    moved = False
    try:
        _open_up(name, top)
        inside = os.open(name, _FOLDER, dir_fd=top)
    except OSError:
        return moved
    try:
        for below in _unlinked(inside):
            # To be moved, a folder must be writable itself: the entry for its parent changes.
            _open_up(below, inside)
            os.rename(below, os.urandom(12).hex(), src_dir_fd=inside, dst_dir_fd=top)
            moved = True
    except OSError:
        return moved
    finally:
        os.close(inside)
    return moved


def _open_up(name: str | bytes, inside: int | None = None) -> None:
    """Give ourselves every right on a folder, a link not followed."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=inside)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
    finally:
        os.close(handle)


def _unlinked(folder: int) -> list[bytes]:
    """Remove every entry that is no folder, and return the names of the folders."""
    folders: list[bytes] = []
    with os.scandir(folder) as entries:
        names = [(os.fsencode(entry.name), entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in names:
        if is_folder:
            folders.append(name)
            continue
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            continue
    return folders

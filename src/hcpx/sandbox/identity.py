"""Whose rights a child has on the host (Spec 04 section 1, the exception for root).

A runtime that is not root has only its own to give. Root gives them up: for the runtime's private directories
in favour of a uid that nobody uses, in a caller's project in favour of the directory's owner.
"""

from __future__ import annotations

import os
import stat

import msgspec

from .view import Place

_FIRST, _LAST = 64_900, 64_000


class Identity(msgspec.Struct, frozen=True):
    """Ids of the child; `drop`: they are not the runtime's own.

    `is_root`: it is the machine's root, for whom limits by uid count nothing, so that a cgroup has to hold.
    """

    uid: int
    gid: int
    drop: bool = False
    is_root: bool = False


def unused_id() -> int | None:
    """Return an id that no account has and this user namespace can hold; None where there is none."""
    import grp
    import pwd

    mapped = _mapped_ids()
    for number in range(_FIRST, _LAST, -1):
        if not any(first <= number < first + count for first, count in mapped):
            continue
        try:
            pwd.getpwuid(number)
        except KeyError:
            try:
                grp.getgrgid(number)
            except KeyError:
                return number
    return None


def _mapped_ids() -> list[tuple[int, int]]:
    return [(first, count) for first, _, count in _map()]


def in_user_namespace() -> bool:
    """Tell whether this process lives in one, where root's files may look like nobody's."""
    return _map() != [(0, 0, 2**32 - 1)]


def _map() -> list[tuple[int, int, int]]:
    """Return the user namespace's map: first id inside, first id outside, how many."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return [(int(first), int(outside), int(count)) for first, outside, count in (line.split() for line in file)]


def of(place: Place, directory: int, nobody: int) -> Identity:
    """Say who runs a job in this directory (an open descriptor).

    `nobody` is -1 where there is no other uid to be had: for an ordinary user, and for the root of a user
    namespace that holds one uid, who is an ordinary user outside.
    """
    uid = os.geteuid()
    if uid != 0:
        return Identity(uid, os.getegid())
    if nobody < 0:
        return Identity(uid, os.getegid(), is_root=any(outside == 0 for first, outside, _ in _map() if first == 0))
    if place.private or place.pack:
        return Identity(nobody, nobody, drop=True)
    owner = os.fstat(directory)
    if owner.st_uid == 0:
        return Identity(0, 0, is_root=True)
    return Identity(owner.st_uid, _group_of(owner), drop=True)


def _group_of(owner: os.stat_result) -> int:
    import pwd

    try:
        return pwd.getpwuid(owner.st_uid).pw_gid
    except KeyError:
        return owner.st_gid


def unreadable(path: str, who: Identity) -> str | None:
    """Return why a program (of a pack) is closed to a child that is not the runtime's own user, with the way out."""
    found = os.stat(path)
    if not who.drop or found.st_uid == who.uid or found.st_mode & stat.S_IROTH:
        return None
    return "root's sandbox runs it as another user, who may not read it: chmod -R a+rX its folder"


def make_over(directory: int, who: Identity) -> None:
    """Give a private directory and what is in it to the child's uid; quick where that was done before.

    Only called as root and for the runtime's own directories. No link is followed, and a file with a second
    name keeps its owner: the other name may lie anywhere.
    """
    opened = os.open(f"/proc/self/fd/{directory}", os.O_RDONLY | os.O_DIRECTORY)
    try:
        if os.fstat(opened).st_uid == who.uid:
            return
        for _, folders, files, folder in os.fwalk(".", dir_fd=opened, follow_symlinks=False):
            for name in (*folders, *files):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode) or found.st_nlink == 1:
                    os.chown(name, who.uid, who.gid, dir_fd=folder, follow_symlinks=False)
        os.fchown(opened, who.uid, who.gid)
    finally:
        os.close(opened)

"""Where things lie inside a sandbox: decided by path parts, before anything is mounted (Spec 04)."""

from __future__ import annotations

import os
from typing import Final

import msgspec

HOME: Final = "/home/sandbox"
TEMPORARY: Final = "/tmp"  # noqa: S108 - the child's own, a fresh file system
PRIVATE_FILES: Final = "/tmp/.private"  # noqa: S108 - the same
PACK: Final = "/pack"
WORKSPACE: Final = "/workspace"
RENAMED: Final = "/run/as"

SYSTEM: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Top folders beside /usr that hold programs: links into it, or folders of their own on older systems."""
ETC: Final = (
    "alternatives", "ssl/certs", "ssl/cert.pem", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf",
    "pki/ca-trust", "crypto-policies", "ca-certificates/extracted",
)  # fmt: skip
"""Folders of /etc that are shown, and links: nothing here is a secret."""
ETC_FILES: Final = (
    "ld.so.cache", "localtime", "timezone", "protocols", "services", "mime.types", "ssl/openssl.cnf",
    "postgresql-common/user_clusters",
)  # fmt: skip
"""Small public files of /etc, which are quicker to copy than to mount."""
MADE: Final = {
    "passwd": b"sandbox:x:1000:1000::/home/sandbox:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
    "group": b"sandbox:x:1000:\nnogroup:x:65534:\n",
    "nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
    "hosts": b"127.0.0.1 localhost\n::1 localhost\n",
}
"""Files of /etc that are made, so that no account or host name of this machine is seen."""

_OURS = frozenset({*SYSTEM, "usr", "etc", "proc", "dev", "sys", "run", "pack", "workspace"})


class Place(msgspec.Struct, frozen=True):
    """Where the working directory lies inside, and whether it is one of the runtime's own private ones."""

    path: str
    private: bool
    pack: bool = False


def below(path: str, folder: str) -> bool:
    """Tell whether a path is the folder or lies in it, by path parts and never by text prefix."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def place(directory: str, pack_root: str, private: tuple[str, ...]) -> Place:
    """Say where a directory (its real path) goes.

    A project keeps its own path, since tools write it down; where that would lie on or above what the sandbox
    is made of, it is shown as /workspace. So no mount ever has to be made below a directory that the caller
    controls.
    """
    if directory == pack_root:
        return Place(PACK, private=False, pack=True)
    if any(below(directory, folder) for folder in private):
        return Place(WORKSPACE, private=True)
    return Place(directory if may_keep_path(directory) else WORKSPACE, private=False)


def may_keep_path(path: str) -> bool:
    """Tell whether a path of the host can be shown under its own name."""
    parts = path.split("/")
    if len(parts) < 3 or parts[0] or parts[1] in _OURS:
        return False
    return not (below(path, HOME) or below(HOME, path) or below(path, PRIVATE_FILES))


def misnamed(names: list[str], texts: list[str]) -> str | None:
    """Return what is wrong with the names of private files, or with texts that go to a program; None for nothing.

    A NUL ends an argument of the helper too: what stands behind one would be read as an argument of its own.
    """
    if any(name in {"", ".", ".."} or "/" in name for name in names):
        return "a private file has no plain name"
    if any("\0" in text for text in (*names, *texts)):
        return "an argument or variable that no program can be given"
    return None


def in_system(path: str) -> bool:
    """Tell whether a real path of the host is seen inside without further ado."""
    return below(path, "/usr") or any(below(path, f"/{name}") for name in SYSTEM)


def system_folders() -> list[tuple[str, str | None]]:
    """Return (path, link target or None) of the system's top folders on this machine."""
    found: list[tuple[str, str | None]] = []
    for name in SYSTEM:
        path = f"/{name}"
        if os.path.islink(path):
            found.append((path, os.readlink(path)))
        elif os.path.isdir(path):
            found.append((path, None))
    return found

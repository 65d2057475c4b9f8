"""Bounds for a whole tree of processes, by control groups where they can be had (Spec 04 section 3, memory).

A group is made below this process's own, so that bounds which already hold for us go on holding. Version 1
has a hierarchy for each controller; in version 2 a group that holds processes cannot hand controllers to one
below it, so there the new group is made beside our own, where the folder above allows it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time

import msgspec

from hcpx.vocabulary.policy import Limits

PIDS, MEMORY = "pids", "memory"
_numbers = itertools.count(1)


class Site(msgspec.Struct, frozen=True):
    """A folder in which groups can be made, the controllers that work there, and the version."""

    folder: str
    controllers: tuple[str, ...]
    version: int


class Sites(msgspec.Struct, frozen=True):
    """Where this machine lets us bound trees; empty where it does not."""

    sites: tuple[Site, ...] = ()

    def bounds(self, controller: str) -> bool:
        """Tell whether a controller can be had."""
        return any(controller in site.controllers for site in self.sites)


class Group(msgspec.Struct, frozen=True):
    """One tree's groups."""

    folders: tuple[str, ...]
    controllers: frozenset[str]

    def take(self, pid: int) -> None:
        """Move a process in; what it starts from then on is in as well. Raises OSError."""
        for folder in self.folders:
            _write(f"{folder}/cgroup.procs", str(pid))

    def remove(self) -> tuple[str, ...]:
        """Remove the groups; returns those that could not be."""
        return tuple(folder for folder in self.folders if not remove(folder))


def find(mounts: str = "/proc/self/mountinfo", own: str = "/proc/self/cgroup") -> Sites:
    """Return where groups can be made, tried by making one. Never raises."""
    try:
        with open(own, encoding="utf-8") as file:
            paths = {line.split(":", 2)[1]: line.rstrip("\n").split(":", 2)[2] for line in file}
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = list(file)
    except (OSError, IndexError):
        return Sites()
    sites: list[Site] = []
    for line in lines:
        with contextlib.suppress(OSError, ValueError):
            sites += _of_mount(line, paths)
    return Sites(tuple(site for site in sites if _works(site)))


def _of_mount(line: str, paths: dict[str, str]) -> list[Site]:
    """Read one line of mountinfo: a hierarchy with a controller of ours gives a site."""
    before, _, behind = line.rstrip("\n").partition(" - ")
    _, _, _, root, point, *_ = before.split(" ")
    kind, _, options = behind.split(" ", 2)
    if kind == "cgroup":
        names = tuple(name for name in (PIDS, MEMORY) if name in options.split(","))
        entry = next((path for key, path in paths.items() if set(names) & set(key.split(","))), None)
        return [Site(_inside(point, root, entry), names, 1)] if names and entry is not None else []
    if kind != "cgroup2" or "" not in paths:
        return []
    folder = _inside(point, root, paths[""])
    if folder != point:
        folder = folder.rsplit("/", 1)[0]
    with open(f"{folder}/cgroup.subtree_control", encoding="ascii") as file:
        names = tuple(name for name in file.read().split() if name in {PIDS, MEMORY})
    return [Site(folder, names, 2)] if names else []


def _inside(point: str, root: str, path: str) -> str:
    """Return the folder of our own group as this mount shows it: a container's begins at its own group."""
    below = path[len(root) :] if root != "/" and path.startswith(root) else path
    return point if below in {"", "/"} or below.startswith("/..") else point + "/" + below.strip("/")


def new_name() -> str:
    """Return a name that this process gives to no other tree, whatever threads and runtimes it holds."""
    return str(next(_numbers))


def _works(site: Site) -> bool:
    """Try the site out: make a group, set every bound, remove it."""
    try:
        made = make(Sites((site,)), new_name(), Limits())
    except OSError:
        return False
    return not made.remove()


def folders(sites: Sites, name: str) -> tuple[str, ...]:
    """Return the folders that the groups of that name will have, so that they can be put on record first."""
    return tuple(f"{site.folder}/hcpx-{os.getpid()}-{name}" for site in sites.sites)


def make(sites: Sites, name: str, limits: Limits) -> Group:
    """Make the groups of one tree. Raises OSError, and then leaves none behind."""
    made: list[str] = []
    try:
        for site, folder in zip(sites.sites, folders(sites, name), strict=True):
            os.mkdir(folder)
            made.append(folder)
            for file, value in _bounds(site, limits):
                _write(f"{folder}/{file}", value)
            _no_swap(folder, site, limits)
    except OSError:
        for folder in made:
            remove(folder)
        raise
    return Group(tuple(made), frozenset(name for site in sites.sites for name in site.controllers))


def _bounds(site: Site, limits: Limits) -> list[tuple[str, str]]:
    size = str(limits.memory_mb * 1024 * 1024)
    count = str(limits.processes + 1)  # one is the sandbox's own first process
    files = {PIDS: ("pids.max", count), MEMORY: ("memory.max", size)}
    if site.version == 1:
        files[MEMORY] = ("memory.limit_in_bytes", size)
    return [files[name] for name in site.controllers]


def _no_swap(folder: str, site: Site, limits: Limits) -> None:
    """Keep the tree out of the swap, where the kernel counts that."""
    if MEMORY in site.controllers:
        file, value = ("memory.swap.max", "0") if site.version == 2 else ("memory.memsw.limit_in_bytes", None)
        with contextlib.suppress(OSError):
            _write(f"{folder}/{file}", value or str(limits.memory_mb * 1024 * 1024))


def processes(folder: str) -> list[int]:
    """Return who is in a group."""
    try:
        with open(f"{folder}/cgroup.procs", encoding="ascii") as file:
            return [int(line) for line in file]
    except OSError:
        return []


def remove(folder: str, tries: int = 500) -> bool:
    """Remove a group. The kernel lets go of the last process a moment after it has ended, hence the tries."""
    for _ in range(tries):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return True
        except OSError:
            time.sleep(0.0002)
        else:
            return True
    return False


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)

"""What the sandbox holds on this machine, and the one command that would make it hold more, for doctor."""

from __future__ import annotations

import os

import msgspec

from . import cgroup, selftest
from .backends import bubblewrap_binary
from .choose import INSTALL, Mode, Places, choose, namespaces_refused
from .job import NotStarted

_FIXED_IN = (0, 12)


class Fact(msgspec.Struct, frozen=True):
    """One thing that doctor reports, without host paths; `fix` is empty where nothing is to be done."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def describe(mode: Mode, places: Places) -> tuple[Fact, ...]:
    """Return the facts for the operator's mode; proves the backend where that was not done since boot."""
    if mode == "native-local":
        detail = "native-local: no isolation; allow-list, clean environment, limits and the end of the tree hold"
        return (Fact("sandbox", ok=True, detail=detail, fix="hcpx config set sandbox sandbox"),)
    chosen = choose(mode, places)
    if isinstance(chosen, NotStarted):
        return (Fact("sandbox", ok=False, detail=f"unavailable: {chosen.why}", fix=namespaces_refused() or INSTALL),)
    proof = selftest.read(places.proof)
    facts = [_landlock()] if chosen.name == "landlock" else [_bubblewrap(proof)]
    return (*facts, _memory(), _processes(chosen.name))


def _bubblewrap(proof: selftest.Proof | None) -> Fact:
    detail = "bubblewrap with seccomp, proven since boot: own files, processes, network and names"
    if proof is None:
        return Fact("sandbox", ok=True, detail=detail)
    detail = f"bubblewrap {proof.version} with seccomp, proven since boot: own files, processes, network and names"
    if not proof.proc:
        detail += "; without /proc, which this container masks"
    older = tuple(int(part) for part in proof.version.split(".")[:2] if part.isdigit()) < _FIXED_IN
    fix = (
        "upgrade bubblewrap to 0.12 or newer (a folder-making fault of older ones is never in our way)" if older else ""
    )
    return Fact("sandbox", ok=True, detail=detail, fix=fix)


def _landlock() -> Fact:
    detail = (
        "Landlock and seccomp, proven since boot: files outside cannot be read or written, no network, no"
        " other process can be touched; names of files, processes and of the machine can be seen, temporary"
        " files lie on the disk, packs with a network list are refused"
    )
    found = bubblewrap_binary.find()
    return Fact("sandbox", ok=True, detail=detail, fix=(namespaces_refused() or "") if found else INSTALL)


def _memory() -> Fact:
    if cgroup.find().bounds(cgroup.MEMORY):
        return Fact("sandbox memory", ok=True, detail="bounded for the whole tree of a call, by cgroup")
    detail = "bounded for each process of a call, shared memory not counted: no memory cgroup to be had"
    return Fact("sandbox memory", ok=False, detail=detail, fix=_scope())


def _processes(backend: str) -> Fact:
    if cgroup.find().bounds(cgroup.PIDS):
        return Fact("sandbox processes", ok=True, detail="bounded for the whole tree of a call, by cgroup")
    if backend == "bubblewrap":
        return Fact("sandbox processes", ok=True, detail="bounded for each call, by its user namespace")
    detail = "bounded together with the user's other processes: no pids cgroup to be had"
    return Fact("sandbox processes", ok=False, detail=detail, fix=_scope())


def _scope() -> str:
    if os.path.isdir("/run/systemd/system"):
        return "systemd-run --user --scope hcpx serve (a scope of the user's own manager)"
    return "give this user a cgroup with the memory and pids controllers delegated"

"""Which backend runs the jobs of this runtime; never a weaker one in silence (Spec 04 section 1)."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from typing import Literal
from zlib import crc32

import msgspec

from . import cgroup, identity, janitor, selftest, view
from .backends import bubblewrap_binary, bubblewrap_policy, gate
from .backends.bubblewrap import Bubblewrap, Machine
from .job import Backend, NotStarted
from .journal import Journal, boot_id
from .seccomp import assemble

_BUBBLEWRAP, _LANDLOCK = "bubblewrap", "landlock"
KINDS = (_BUBBLEWRAP, _LANDLOCK)
Mode = Literal["sandbox", "native-local"]
INSTALL = "apt install bubblewrap (or dnf, pacman, apk; or pip install 'hcpx[sandbox]')"


class Places(msgspec.Struct, frozen=True):
    """Folders of the runtime: `state` for its own records, `private` for those of its private workspaces."""

    state: str
    private: tuple[str, ...]

    @property
    def proof(self) -> str:
        """The file that remembers the self-test."""
        return os.path.join(self.state, "sandbox-proof.json")


def choose(mode: Mode, places: Places, kinds: tuple[str, ...] = KINDS) -> Backend | NotStarted:
    """Return the backend for the operator's mode, or why there is none (with the way out).

    `kinds` are the isolating backends that may be taken, best first.
    """
    if mode == "native-local":
        from .backends.native import Native

        return Native(os.path.join(places.state, "native"))
    if sys.platform != "linux":
        return NotStarted("sandbox_unavailable", "isolation needs Linux: hcpx config set sandbox native-local")
    janitor.sweep(places.state)
    places = Places(places.state, tuple(os.path.realpath(folder) for folder in places.private))
    proof = selftest.recall(places.proof, _key(kinds))
    if proof is not None and _is_as_proved(proof):
        return _backend(proof, places)
    return _proved(places, kinds)


def _is_as_proved(proof: selftest.Proof) -> bool:
    return proof.backend == _LANDLOCK or bubblewrap_binary.mark(proof.program) == proof.mark


def _proved(places: Places, kinds: tuple[str, ...]) -> Backend | NotStarted:
    """Try what this machine has, best first, and keep the first that proves itself."""
    reasons: list[str] = []
    for proof in _candidates(kinds):
        backend = _backend(proof, places)
        why = selftest.failure(backend, places.private[0], proc=proof.proc)
        if why is None:
            selftest.remember(places.proof, proof)
            return backend
        reasons.append(f"{proof.program or proof.backend}: {why}")
    return NotStarted("sandbox_unavailable", _why(reasons))


def _candidates(kinds: tuple[str, ...]) -> Iterator[selftest.Proof]:
    unused = identity.unused_id() if os.geteuid() == 0 else None
    nobody = -1 if unused is None else unused
    plain = selftest.Proof(boot_id(), _key(kinds), _BUBBLEWRAP, nobody=nobody)
    if _BUBBLEWRAP in kinds:
        for binary in bubblewrap_binary.find():
            found = msgspec.structs.replace(
                plain, program=binary.path, version=binary.version, mark=binary.mark, bind_fd=binary.bind_fd
            )
            yield found
            yield msgspec.structs.replace(found, proc=False)
    if _LANDLOCK in kinds:
        from .backends import landlock

        if landlock.abi() >= landlock.ABI:
            yield msgspec.structs.replace(plain, backend=_LANDLOCK)


def _backend(proof: selftest.Proof, places: Places) -> Backend:
    machine = Machine(
        bwrap=proof.program,
        private=places.private,
        nobody=proof.nobody,
        bind_fd=proof.bind_fd,
        proc=proof.proc,
        sites=cgroup.find(),
    )
    if proof.backend == _LANDLOCK:
        from .backends.landlock import Landlock

        return Landlock(machine, Journal(places.state), os.path.join(places.state, "landlock"))
    return Bubblewrap(machine, Journal(places.state))


def _key(kinds: tuple[str, ...]) -> str:
    """Return what changes whenever what is to be proved does."""
    policy = repr((kinds, bubblewrap_policy.base(proc=True), gate.SCRIPT, _filters(), view.MADE))
    return f"{os.geteuid()}:{platform.machine()}:{platform.release()}:{crc32(policy.encode()):08x}"


def _filters() -> tuple[bytes, ...]:
    return tuple(assemble("x86_64", namespaces=namespaces) for namespaces in (True, False))


def _why(reasons: list[str]) -> str:
    if not reasons:
        return f"no bubblewrap on this machine: {INSTALL}"
    refused = namespaces_refused()
    return "; ".join(dict.fromkeys(reasons)) + (f"; {refused}" if refused else "")


def namespaces_refused() -> str | None:
    """Return how to allow what this machine is set to refuse, None where it is set to allow it."""
    for path, bad, way_out in (
        ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "an AppArmor profile that lets bubblewrap make user namespaces (userns,)",
        ),
    ):
        try:
            with open(path, encoding="ascii") as file:
                if file.read().strip() == bad:
                    return f"user namespaces are switched off, allow them with: {way_out}"
        except OSError:
            continue
    return None

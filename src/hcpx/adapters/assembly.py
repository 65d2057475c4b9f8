"""Puts the adapter for wrap packs together from plain settings, for those who do not enter the sandbox."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from hcpx.ports import Directories, Redaction
from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.choose import Places, choose
from hcpx.sandbox.environment import Environments
from hcpx.sandbox.job import Backend, NotStarted
from hcpx.sandbox.programs import Programs
from hcpx.sandbox.workspace import Folders, Workspaces
from hcpx.vocabulary.denial import Denial, deny

from .lanes import Lanes
from .wrap import Wrapped

Mode = Literal["sandbox", "native-local"]


def wrapped(
    *,
    state: str,
    mode: Mode,
    search_path: str,
    variables: Mapping[str, str],
    allowed: Callable[[str], str | None],
    redaction: Redaction,
) -> Wrapped:
    """Return the adapter: private folders go below `state`, of `variables` only the locale's reach a program.

    `allowed` gives the real path that this host's operator stored for a program, or None.
    """
    backends = Backends(mode, _places(state))
    return Wrapped(
        choose=backends.choose,
        workspaces=Workspaces(state),
        programs=Programs(search_path, allowed),
        redaction=redaction,
        environments=Environments(search_path, variables),
        lanes=Lanes(state),
        at_close=(backends.close,),
    )


class Backends:
    """The backends of one runtime, each made when it is first chosen; never a weaker one in silence."""

    def __init__(self, mode: Mode, places: Places) -> None:
        self._mode = mode
        self._places = places
        self._native: Native | None = None
        self._isolating: Backend | None = None
        self._choosing = allocate_lock()

    def choose(self, *, native_local: bool) -> Backend | Denial:
        """Return the backend of the operator's mode, or of the owner's choice for this one call."""
        with self._choosing:
            return self._chosen(native_local=native_local)

    def _chosen(self, *, native_local: bool) -> Backend | Denial:
        if native_local or self._mode == "native-local":
            if self._native is None:
                self._native = Native(os.path.join(self._places.state, "calls"))
            return self._native
        if self._isolating is None:
            chosen = choose("sandbox", self._places)
            if isinstance(chosen, NotStarted):
                return deny("sandbox_unavailable", why=chosen.why)
            self._isolating = chosen
        return self._isolating

    def close(self) -> None:
        """Give back what the backends keep ready."""
        if self._native is not None:
            self._native.close()
        if self._isolating is not None:
            self._isolating.close()


def _places(state: str) -> Places:
    private = tuple(os.path.join(state, name) for name in ("workspaces", "ephemeral"))
    return Places(os.path.join(state, "sandbox"), private)


def directories() -> Directories:
    """Return what opens a caller's working directory."""
    return Folders()


def host_program(name: str, search_path: str) -> str | None:
    """Return the real path that allowing `name` would allow on this host, or None where nothing is found."""
    path = name if name.startswith("/") else _searched(name, search_path)
    return os.path.realpath(path) if path is not None and _is_program(path) else None


def _searched(name: str, search_path: str) -> str | None:
    if "/" in name or not name or name != name.strip():
        return None
    paths = (f"{folder}/{name}" for folder in search_path.split(":") if folder.startswith("/"))
    return next((path for path in paths if _is_program(path)), None)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


class SandboxFact(msgspec.Struct, frozen=True):
    """One thing that holds or does not on this machine, for doctor; `fix` is empty where nothing is to be done."""

    name: str
    ok: bool
    detail: str
    fix: str


def sandbox_facts(mode: Mode, state: str) -> list[SandboxFact]:
    """Say what the operator's mode comes to here; proves the backend where that was not done since boot."""
    from hcpx.sandbox.describe import describe

    return [SandboxFact(one.name, one.ok, one.detail, one.fix) for one in describe(mode, _places(state))]

"""Puts the adapter for wrap packs together from plain settings, for those who do not enter the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from hcpx.ports import Directories, Redaction
from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.environment import Environments
from hcpx.sandbox.job import Backend
from hcpx.sandbox.programs import Programs
from hcpx.sandbox.workspace import Folders, Workspaces
from hcpx.vocabulary.denial import Denial, deny

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
    native = Native(os.path.join(state, "calls"))

    def choose(*, native_local: bool) -> Backend | Denial:
        if native_local or mode == "native-local":
            return native
        return deny(
            "sandbox_unavailable",
            why="nothing on this machine isolates a program",
            hint="hcpx config set sandbox native-local",
        )

    return Wrapped(
        choose=choose,
        workspaces=Workspaces(state),
        programs=Programs(search_path, allowed),
        redaction=redaction,
        environments=Environments(search_path, variables),
        at_close=(native.close,),
    )


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


class SandboxState(msgspec.Struct, frozen=True):
    """What isolation there is on this machine, for doctor."""

    ok: bool
    detail: str
    fix: str | None = None


def sandbox_state(mode: Mode) -> SandboxState:
    """Say what the operator's mode comes to here."""
    if mode == "sandbox":
        return SandboxState(
            ok=False,
            detail="isolation was asked for and this version has none: every wrapped program is refused",
            fix="hcpx config set sandbox native-local",
        )
    return SandboxState(
        ok=True,
        detail="native-local: programs run without isolation; allow-list, clean environment, limits and the end of"
        " the whole tree hold",
    )

"""Puts the wrap adapter together: what the runtime knows goes in, and the sandbox stays behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import msgspec

from hcpx.ports import Adapter, Directories, Redaction
from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.environment import Environments
from hcpx.sandbox.job import Backend
from hcpx.sandbox.programs import Programs
from hcpx.sandbox.workspace import Folders, Workspaces
from hcpx.vocabulary.denial import Denial

from .wrap import Wrapped


def directories() -> Directories:
    """Return what opens a caller's project directory in step 2."""
    return Folders()


def programs(search_path: str, allowed: Callable[[str], str | None]) -> Programs:
    """Return what finds programs; `allowed` gives the real path that the owner allowed under a name."""
    return Programs(search_path, allowed)


def host_program(name: str, search_path: str) -> str | None:
    """Return the real path that allowing `name` would allow on this host, or None where nothing is found."""
    path = name if name.startswith("/") else _searched(name, search_path)
    if path is None or not os.path.isfile(path) or not os.access(path, os.X_OK):
        return None
    return os.path.realpath(path)


def _searched(name: str, search_path: str) -> str | None:
    if "/" in name or not name or name != name.strip():
        return None
    paths = (f"{folder}/{name}" for folder in search_path.split(":") if folder.startswith("/"))
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def wrap_adapter(
    *,
    state: str,
    search_path: str,
    locale: Mapping[str, str],
    allowed: Callable[[str], str | None],
    redaction: Redaction,
) -> Adapter:
    """Return the adapter of kind `wrap`; its private folders are made below `state`."""
    native = Native(os.path.join(state, "calls"))

    def choose(*, native_local: bool) -> Backend | Denial:  # noqa: ARG001 -- there is one backend to choose from
        return native

    return Wrapped(
        choose=choose,
        workspaces=Workspaces(state),
        programs=programs(search_path, allowed),
        redaction=redaction,
        environments=Environments(search_path, locale),
    )


class SandboxState(msgspec.Struct, frozen=True):
    """What isolation there is on this machine, for doctor."""

    ok: bool
    detail: str
    fix: str | None = None


def sandbox_state(mode: str | None) -> SandboxState:
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

"""Puts the adapter for wrap packs together from plain settings, for those who do not enter the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Literal

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

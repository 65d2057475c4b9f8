"""A store that lives as long as a block: for the guided tour, which leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from tempfile import mkdtemp

import msgspec

from hcpx.packs.copying import take_away
from hcpx.settings import ambient, read_settings

from .runtime import Runtime

__all__ = ["ambient", "temporary_runtime"]

_KEY_BYTES = 32


@contextmanager
def temporary_runtime() -> Generator[Runtime]:
    """Make a store in a folder of its own, and remove both; nothing of the caller's own is used.

    `project` in that folder is an empty directory.
    """
    place = os.path.realpath(mkdtemp(prefix="hcpx-tour-"))
    try:
        key = os.path.join(place, "vault.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
        project = os.path.join(place, "project")
        os.mkdir(project, 0o700)
        settings = msgspec.structs.replace(
            read_settings(),
            home=os.path.join(place, "home"),
            cwd=project,
            session=None,
            vault_key_file=key,
            log=None,
        )
        runtime = Runtime.open(settings=settings, create_missing=True)
        try:
            yield runtime
        finally:
            runtime.close()
    finally:
        take_away(place)

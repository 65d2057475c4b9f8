"""The packs that come with hcpx: in the wheel, or at the top of a checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hcpx.vocabulary.principal import is_pack_id


def shipped(pack_id: str) -> str | None:
    """Return the folder of a pack that comes with hcpx, or None."""
    if not is_pack_id(pack_id):
        return None
    return next((path for folder in _folders() if _is_pack(path := os.path.join(folder, pack_id))), None)


def shipped_ids() -> list[str]:
    """Return the ids of the packs that come with hcpx."""
    return sorted(
        {
            name
            for folder in _folders()
            if os.path.isdir(folder)
            for name in os.listdir(folder)
            if _is_pack(os.path.join(folder, name))
        }
    )


def _folders() -> Iterator[str]:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(here, "_packs")
    yield os.path.join(os.path.dirname(os.path.dirname(here)), "packs")


def _is_pack(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "pack.yaml"))

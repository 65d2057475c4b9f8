"""The digest of a pack: what activations, approvals and the store's folders are pinned to.

It covers the meaning of the manifest (its JSON value, so neither comments nor the order of keys) and path,
run bit and content of every other file; of a link, its target. See the decision record "What a pack's digest
covers".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hcpx.vocabulary.json_text import canonical

PREFIX: Final = "sha256:"


def pack_digest(manifest: object, looks: Mapping[str, str]) -> str:
    """Return `sha256:<hex>` of the manifest's value and the look of every other file (`PackFile.look`)."""
    import hashlib

    content = canonical({"files": dict(looks), "hcp": 1, "manifest": manifest})
    return PREFIX + hashlib.sha256(content.encode()).hexdigest()


def folder_name(digest: str) -> str:
    """Return the name of the store's folder that holds the pack of this digest."""
    return digest.removeprefix(PREFIX)

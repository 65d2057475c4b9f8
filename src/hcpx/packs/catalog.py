"""A tenant's packs as the pipeline finds them: compiled, cached, linked ones as they are (Spec 02)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from hcpx.ports.rows import OverlayRows, PackRow, PackRows
from hcpx.vocabulary.finding import Finding
from hcpx.vocabulary.pack import BOOTSTRAP, Pack
from hcpx.vocabulary.policy import Overlay

from .files import signature
from .shelf import LinkNote, Shelf

UNREADABLE: Final = "unreadable"
"""The digest of a linked pack whose folder cannot be read or does not pass lint; nothing is pinned to it."""

_MOST: Final = 512


class Catalog:
    """Implements `hcpx.ports.PackCatalog` over the store's rows and the shelf."""

    def __init__(self, rows: PackRows, overlays: OverlayRows, shelf: Shelf, bootstrap: Callable[[], Pack]) -> None:
        self._rows = rows
        self._overlays = overlays
        self._shelf = shelf
        self._make_bootstrap = bootstrap
        self._bootstrap: Pack | None = None
        self._compiled: dict[tuple[str, str, bool], Pack] = {}
        self._links: dict[tuple[str, str, str], tuple[str, Pack]] = {}

    def find(self, tenant: str, pack_id: str) -> Pack | None:
        """Return the pack of exactly that id, or None.

        A linked pack is read from its folder as it is now. Where that is not possible, or lint refuses what
        is there, the pack has no commands and the digest `UNREADABLE`, so that every call of it is denied as
        changed. Raises `StoreUnavailable`.
        """
        if pack_id == BOOTSTRAP:
            # Made when it is asked for: most calls never are.
            self._bootstrap = self._bootstrap or self._make_bootstrap()
            return self._bootstrap
        row = self._rows.find(tenant, pack_id)
        if row is None:
            return None
        return self._linked(row) if row.linked else self._of(row)

    def overlay(self, tenant: str, pack_id: str, verb_key: str) -> Overlay | None:
        """Return the tenant's overlay on that row, or None. Raises `StoreUnavailable`."""
        return self._overlays.find(tenant, pack_id, verb_key)

    def list(self, tenant: str) -> Sequence[PackRow]:
        """Return the rows of the tenant's packs, in the order of their ids. Raises `StoreUnavailable`."""
        return self._rows.list(tenant)

    def version(self, digest: str) -> Pack | None:
        """Return the compiled pack that ever had this digest here, or None: what to compare with."""
        return self._shelf.compiled(digest)

    def findings(self, tenant: str, pack_id: str) -> tuple[Finding, ...]:
        """Return what lint says now of an installed pack's files. Raises `StoreUnavailable`."""
        from .gate import read_pack

        row = self._rows.find(tenant, pack_id)
        if row is None:
            return ()
        reading = read_pack(self._shelf.path(row.root), installed=self._neighbours(tenant))
        if reading.pack is not None and reading.pack.id != pack_id:
            message = f"the folder holds the pack {reading.pack.id} now"
            mend = "link it anew: hcpx pack add --link"
            return (Finding("other_id", "error", message, mend), *reading.findings)
        return reading.findings

    def _of(self, row: PackRow) -> Pack:
        """Return the pack of a row as it was compiled."""
        key = (row.digest, row.root, row.linked)
        pack = self._compiled.get(key)
        if pack is None:
            pack = msgspec.json.decode(row.compiled, type=Pack)
            pack = msgspec.structs.replace(pack, root=self._shelf.path(row.root), linked=row.linked)
            if len(self._compiled) >= _MOST:
                self._compiled.pop(next(iter(self._compiled)), None)
            self._compiled[key] = pack
        return pack

    def _linked(self, row: PackRow) -> Pack:
        key = (row.tenant, row.pack_id, row.root)
        mark = signature(row.root)
        if mark is None:
            pack = self._read(row)
            self._keep(pack)
            return pack
        known = self._links.get(key)
        if known is not None and known[0] == mark:
            return known[1]
        note = self._shelf.link_note(row.root)
        pack = self._noted(row, note) if note is not None and note.signature == mark else None
        if pack is None:
            pack = self._read(row)
            self._note(row, mark, pack)
        self._links[key] = (mark, pack)
        return pack

    def _noted(self, row: PackRow, note: LinkNote) -> Pack | None:
        """Return the compiled pack of a folder that is as it was when it was last read."""
        if note.digest == row.digest:
            return self._of(row)
        pack = self._shelf.compiled(note.digest)
        if pack is None or pack.id != row.pack_id:
            return None
        return msgspec.structs.replace(pack, root=row.root, linked=True)

    def _read(self, row: PackRow) -> Pack:
        """Read a linked folder whole, and judge it."""
        from .gate import read_pack

        reading = read_pack(row.root, installed=self._neighbours(row.tenant))
        if reading.sound is not None and reading.sound.id == row.pack_id:
            return msgspec.structs.replace(reading.sound, linked=True)
        return msgspec.structs.replace(self._of(row), digest=UNREADABLE, commands={}, policy={}, skills=(), sense={})

    def _note(self, row: PackRow, mark: str, pack: Pack) -> None:
        """Spare the next process the reading; a shelf that cannot be written to is no reason to deny."""
        if pack.digest != UNREADABLE and self._keep(pack):
            try:
                self._shelf.note_link(row.root, LinkNote(mark, pack.digest))
            except OSError:
                return

    def _keep(self, pack: Pack) -> bool:
        """Keep the pack for later comparisons; False where that cannot be."""
        try:
            if pack.digest != UNREADABLE and self._shelf.compiled(pack.digest) is None:
                self._shelf.keep(pack)
        except OSError:
            return False
        return True

    def _neighbours(self, tenant: str) -> Neighbours:
        return Neighbours(self, tenant)

    def settled(self, tenant: str, pack_id: str) -> Pack | None:
        """Return a pack as it was last stored, without a look at its folder. Raises `StoreUnavailable`."""
        row = self._rows.find(tenant, pack_id)
        return None if row is None else self._of(row)


class Neighbours:
    """Looks up a tenant's packs for the rules about composites, as they were last stored."""

    def __init__(self, catalog: Catalog, tenant: str) -> None:
        self._catalog = catalog
        self._tenant = tenant

    def __call__(self, pack_id: str) -> Pack | None:
        """Return the pack as it was last stored."""
        return self._catalog.settled(self._tenant, pack_id)

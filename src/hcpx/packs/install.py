"""Installs packs: lint, copy by digest, one row; all or nothing, whatever happens (Spec 02 section 3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager

import msgspec

from hcpx.ports import Clock, StoreUnavailable
from hcpx.ports.rows import PackRow, PackRows
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.finding import MANIFEST, Finding, errors, in_order
from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.text import shown

from .archive_entry import BadArchive
from .copying import Unfit, copy_folder, seal, take_away
from .digest import folder_name
from .files import LEFT_OUT, TooMuch, signature
from .gate import Reading, read_pack
from .shelf import LinkNote, Shelf
from .unpack import unpack
from .yaml_nodes import MAX_MESSAGE


class Added(msgspec.Struct, frozen=True):
    """A pack that is installed now; `before` is what it replaced, the same where nothing changed."""

    pack: Pack
    findings: tuple[Finding, ...]
    before: Pack | None = None


class Refused(msgspec.Struct, frozen=True):
    """Why a pack was not installed; nothing has changed."""

    denial: Denial
    findings: tuple[Finding, ...] = ()


Find = Callable[[str, str], Pack | None]
"""Looks up the pack that is installed in a tenant under an id."""


class Installer:
    """Puts packs onto the shelf and into the store's rows, and takes them out."""

    def __init__(self, shelf: Shelf, rows: PackRows, clock: Clock, find: Find) -> None:
        self._shelf = shelf
        self._rows = rows
        self._clock = clock
        self._find = find

    def add(
        self, tenant: str, source: str, *, replace: bool = False, judged: bool = True, packaged: bool = False
    ) -> Added | Refused:
        """Install a copy of the pack in a folder or archive (tar, tar.gz, zip).

        With `judged=False` the rules of lint are left out (for tests of the runtime behind it); `packaged` is
        for a pack that comes in a Python package. Raises `StoreUnavailable`.
        """
        if not os.path.exists(source):
            return Refused(deny("not_found", what=f"no folder or archive at {source}"))
        with self._held_shelf():
            self._shelf.sweep(list(self._rows.roots()), self._clock.now())
            incoming = self._shelf.incoming()
            try:
                reading = self._brought(tenant, source, incoming, judged=judged, packaged=packaged)
                pack = reading.sound
                if pack is None:
                    return _lint_failed(source, reading.findings)
                if not self._on_shelf(pack.digest):
                    seal(pack.root)
                    self._shelf.settle(pack.root, pack.digest)
                settled = msgspec.structs.replace(pack, root=self._shelf.path(folder_name(pack.digest)))
                return self._put(tenant, settled, reading, replace=replace)
            finally:
                take_away(incoming)

    def link(self, tenant: str, source: str, *, replace: bool = False) -> Added | Refused:
        """Install the folder itself, for development: it is read as it is at each call.

        Raises `StoreUnavailable`.
        """
        if not os.path.isdir(source):
            return Refused(deny("not_found", what=f"no folder at {source}"))
        root = os.path.realpath(source)
        if not root.isprintable():
            # The store keeps the path as text, and people read it.
            return Refused(deny("lint_failed", what=f"{root}: the path is no plain text; rename the folder"))
        with self._held_shelf():
            mark = signature(root)
            reading = read_pack(root, installed=lambda pack_id: self._find(tenant, pack_id))
            if reading.sound is None:
                return _lint_failed(source, reading.findings)
            linked = msgspec.structs.replace(reading.sound, linked=True)
            if mark is not None:
                self._shelf.note_link(root, LinkNote(mark, linked.digest))
            return self._put(tenant, linked, reading, replace=replace)

    def remove(self, tenant: str, pack_id: str) -> Denial | None:
        """Take the pack out of the tenant; what runs on it goes on. Raises `StoreUnavailable`."""
        with self._held_shelf():
            row = self._rows.remove(tenant, pack_id)
            if row is None:
                return deny("not_found", what=f"no pack {pack_id} is installed")
            if not row.linked:
                self._shelf.forget(row.root, self._clock.now())
        return None

    @contextmanager
    def _held_shelf(self) -> Generator[None]:
        """Hold the shelf alone; what is wrong with it is the store's trouble, named with the way out."""
        try:
            with self._shelf.locked():
                yield
        except OSError as problem:
            why = problem.strerror or str(problem)
            way_out = "make room and make it writable for you, then run it again; nothing has changed"
            raise StoreUnavailable(f"{self._shelf.folder}: {why}: {way_out}") from problem

    def _brought(self, tenant: str, source: str, incoming: str, *, judged: bool, packaged: bool) -> Reading:
        """Copy or unpack the source and read the copy, which nobody else can change meanwhile."""
        try:
            if os.path.isdir(source):
                findings, root = copy_folder(source, incoming), incoming
            else:
                unpack(source, incoming)
                findings, root = [], _pack_root(incoming)
        except Unfit as problem:
            return _unread("unreadable", f"the pack directory cannot be read: {problem}", "make it readable")
        except BadArchive as problem:
            return _unread("bad_archive", str(problem), "make the archive anew from the pack's folder")
        except TooMuch as problem:
            return _unread("pack_too_large", f"the pack holds {problem}", "leave out what it does not need")
        reading = read_pack(
            root, installed=lambda pack_id: self._find(tenant, pack_id), packaged=packaged, judged=judged
        )
        return Reading(reading.pack, in_order([*findings, *reading.findings]))

    def _on_shelf(self, digest: str) -> bool:
        """Tell whether the files of that digest are there already, undamaged."""
        place = self._shelf.path(folder_name(digest))
        there = read_pack(place, judged=False).pack if os.path.isdir(place) else None
        return there is not None and there.digest == digest

    def _put(self, tenant: str, pack: Pack, reading: Reading, *, replace: bool) -> Added | Refused:
        before = self._rows.find(tenant, pack.id)
        root = pack.root if pack.linked else folder_name(pack.digest)
        row = PackRow(
            tenant=tenant,
            pack_id=pack.id,
            version=pack.version,
            title=pack.title,
            digest=pack.digest,
            root=root,
            linked=pack.linked,
            compiled=msgspec.json.encode(msgspec.structs.replace(pack, root="", linked=False)),
            installed_at=self._clock.now(),
        )
        self._shelf.keep(pack)
        if not self._rows.put(row, replace=replace):
            what = f"another version of the pack {pack.id} is installed; add --replace to take this one"
            return Refused(deny("exists", what=what))
        if before is not None and not before.linked and before.root != root:
            self._shelf.forget(before.root, self._clock.now())
        return Added(pack, reading.findings, None if before is None else self._version(before))

    def _version(self, row: PackRow) -> Pack | None:
        pack = self._shelf.compiled(row.digest)
        return (
            None if pack is None else msgspec.structs.replace(pack, root=self._shelf.path(row.root), linked=row.linked)
        )


def _pack_root(folder: str) -> str:
    """Return where the manifest lies: in the folder, or in the only folder that is in it."""
    root = folder
    names = os.listdir(folder)
    if MANIFEST not in names and len(names) == 1 and os.path.isdir(os.path.join(folder, names[0])):
        root = os.path.join(folder, names[0])
    for name in LEFT_OUT:
        take_away(os.path.join(root, name))
    return root


def _unread(code: str, message: str, mend: str) -> Reading:
    return Reading(None, (Finding(code, "error", shown(message[:MAX_MESSAGE]), mend, file="."),))


def _lint_failed(source: str, findings: tuple[Finding, ...]) -> Refused:
    first = errors(findings)[0]
    more = len(errors(findings)) - 1
    rest = f", and {more} more" if more else ""
    place = f"{first.file}:{first.line}: " if first.line else ""
    return Refused(deny("lint_failed", what=f"{source}: {place}{first.message}{rest}"), findings)

"""Where the store keeps packs: their files by digest, and each version ever compiled (Spec 02 section 3).

<digest>/          the read-only files of an installed pack
compiled/<digest>  the `Pack` as JSON: what a later version is compared with
links/<name>       for a linked folder, the signature under which its digest was taken
.incoming-*        a pack on its way in; what is left of one after a crash is swept by the next install
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

import msgspec

from hcpx.vocabulary.pack import Pack

from .digest import folder_name

_COMPILED: Final = "compiled"
_LINKS: Final = "links"
_LOCK: Final = ".lock"
_INCOMING: Final = ".incoming-"
_OUTGOING: Final = ".outgoing-"
_NAME: Final = 64
"""Letters in a digest: nothing of another name was put here by us."""
_KEEP_S: Final = 7 * 24 * 3600
"""How long the files of a removed pack stay, for the calls that run on them."""


class LinkNote(msgspec.Struct, frozen=True):
    """What a linked folder was when it was last read: its signature, and the digest that it had."""

    signature: str
    digest: str


class Shelf:
    """One folder of packs. Changing methods are called by one process at a time, under `locked`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, root: str) -> str:
        """Return the folder of a row's `root`: absolute for a linked pack, else a name on this shelf."""
        return os.path.join(self.folder, root)

    def keep(self, pack: Pack) -> None:
        """Keep the compiled pack under its digest; raises `OSError`."""
        bare = msgspec.structs.replace(pack, root="", linked=False)
        self._write(_COMPILED, folder_name(pack.digest), msgspec.json.encode(bare))

    def compiled(self, digest: str) -> Pack | None:
        """Return the compiled pack that was kept under the digest, or None; it has no root."""
        name = folder_name(digest)
        data = self._read(_COMPILED, name) if name.isalnum() else None
        try:
            return None if data is None else msgspec.json.decode(data, type=Pack)
        except msgspec.DecodeError:
            return None

    def note_link(self, root: str, note: LinkNote) -> None:
        """Remember what the linked folder `root` is now; raises `OSError`."""
        self._write(_LINKS, _link_name(root), msgspec.json.encode(note))

    def link_note(self, root: str) -> LinkNote | None:
        """Return what the linked folder was when it was last read, or None."""
        data = self._read(_LINKS, _link_name(root))
        try:
            return None if data is None else msgspec.json.decode(data, type=LinkNote)
        except msgspec.DecodeError:
            return None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Be the only process that changes this shelf, for the length of a block."""
        import fcntl

        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(os.path.join(self.folder, _LOCK), flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def incoming(self) -> str:
        """Make an empty private folder for a pack on its way in."""
        import tempfile

        return tempfile.mkdtemp(prefix=_INCOMING, dir=self.folder)

    def sweep(self, used: Iterable[str], now: float) -> None:
        """Take away what a crash left behind, and the files of packs that were removed long ago."""
        from .copying import take_away

        wanted = {*used, _COMPILED, _LINKS, _LOCK}
        for name in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, name)
            place = os.path.join(self.folder, name.removeprefix(_OUTGOING))
            if name.startswith(_OUTGOING) and not os.path.lexists(place):
                os.rename(path, place)
                continue
            leftover = name.startswith((_INCOMING, _OUTGOING))
            ours = len(name) == _NAME and name not in wanted
            forgotten = ours and os.lstat(path).st_mtime < now - _KEEP_S
            if leftover or forgotten:
                take_away(path)
        for room in (_COMPILED, _LINKS):
            folder = os.path.join(self.folder, room)
            for name in os.listdir(folder) if os.path.isdir(folder) else ():
                if name.startswith("."):
                    os.unlink(os.path.join(folder, name))

    def settle(self, folder: str, digest: str) -> str:
        """Move a sealed pack to its place by digest, in the place of a damaged one, and return its name."""
        from .copying import lock_root

        name = folder_name(digest)
        place = os.path.join(self.folder, name)
        if os.path.lexists(place):
            os.rename(place, os.path.join(self.folder, _OUTGOING + name))
        os.rename(folder, place)
        lock_root(place)
        self._flush(self.folder)
        return name

    def forget(self, root: str, now: float) -> None:
        """Note when the files of a pack stopped being wanted; `sweep` takes them away later."""
        place = os.path.join(self.folder, root)
        if os.path.isdir(place):
            os.utime(place, (now, now))

    def _read(self, room: str, name: str) -> bytes | None:
        try:
            with open(os.path.join(self.folder, room, name), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _write(self, room: str, name: str, data: bytes) -> None:
        import tempfile

        folder = os.path.join(self.folder, room)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(prefix=".", dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(draft, os.path.join(folder, name))
        except BaseException:
            os.unlink(draft)
            raise
        self._flush(folder)

    def _flush(self, folder: str) -> None:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _link_name(root: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(root)).hexdigest()

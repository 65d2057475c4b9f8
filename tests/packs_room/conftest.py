"""A store of packs in memory, and a clock that can be put forward."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import pytest

from hcpx.packs.bootstrap.pack import bootstrap_pack
from hcpx.packs.catalog import Catalog
from hcpx.packs.install import Installer
from hcpx.packs.shelf import Shelf
from hcpx.ports.rows import PackRow
from hcpx.vocabulary.policy import Overlay

if TYPE_CHECKING:
    from pathlib import Path

Later = Callable[[], AbstractContextManager[None]]


class Rows:
    """`PackRows` and `OverlayRows` in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], PackRow] = {}
        self.overlays: dict[tuple[str, str, str], Overlay] = {}
        self.fail_put = False

    def find(self, tenant: str, pack_id: str) -> PackRow | None:
        return self.rows.get((tenant, pack_id))

    def list(self, tenant: str) -> list[PackRow]:
        return [row for (owner, _), row in sorted(self.rows.items()) if owner == tenant]

    def put(self, row: PackRow, *, replace: bool) -> bool:
        if self.fail_put:
            raise RuntimeError("killed here")
        there = self.rows.get((row.tenant, row.pack_id))
        if there is not None and (there.digest, there.root) != (row.digest, row.root) and not replace:
            return False
        self.rows[row.tenant, row.pack_id] = row
        return True

    def remove(self, tenant: str, pack_id: str) -> PackRow | None:
        return self.rows.pop((tenant, pack_id), None)

    def roots(self) -> list[str]:
        return [row.root for row in self.rows.values() if not row.linked]


class Overlays:
    """`OverlayRows` over the same memory."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, tenant: str, pack_id: str, verb_key: str) -> Overlay | None:
        return self._rows.overlays.get((tenant, pack_id, verb_key))


class Clock:
    def __init__(self) -> None:
        self.time = time.time()

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return 0.0

    def new_id(self, kind: str) -> str:
        return f"{kind}_1"


class Room:
    """The packs room on a folder of its own."""

    def __init__(self, folder: str) -> None:
        self.rows, self.clock, self.shelf = Rows(), Clock(), Shelf(folder)
        self.catalog = self.fresh_catalog()
        self.installer = Installer(self.shelf, self.rows, self.clock, self.catalog.find)

    def fresh_catalog(self) -> Catalog:
        """A catalog as another process would have it: nothing cached."""
        return Catalog(self.rows, Overlays(self.rows), self.shelf, lambda: bootstrap_pack("0.0.1"))


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(str(tmp_path / "home" / "packs"))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """A while later: what was written just now was written long ago."""

    @contextmanager
    def put_forward() -> Generator[None]:
        with monkeypatch.context() as patch:
            real = time.time_ns
            patch.setattr(time, "time_ns", lambda: real() + 10_000_000_000)
            yield

    return put_forward

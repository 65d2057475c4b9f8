"""Homes of any size: packs, grants and audit rows in bulk, the chain valid."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.home import Home
from bench.sampling import expect
from bench.worker import ROOT

if TYPE_CHECKING:
    from bench.course import Course

ROOMS = ("store", "audit", "packs", "vocabulary", "rendering", "hub")
BYTES_A_RECORD = 3_000  # with its indexes, and as much again for the log while it is filled


@dataclass(frozen=True)
class Size:
    """How many of each."""

    packs: int
    grants: int
    records: int


SMALL = Size(10, 10, 0)
LARGE = Size(10_000, 100_000, 3_000_000)


def populated(course: Course, name: str, size: Size) -> Home:
    """Return a home of that size; a large one stays in the cache until the code that made it changes.

    Its chain is verified once, by hcpx itself, before anything is measured on it.
    """
    if size.records == 0:
        home = course.home(name)
        _fill(course, home, size)
        return home
    stores = course.cache / "stores"
    folder = stores / f"{name}-{_stamp(size)}"
    home = Home(folder / "home", course.program)
    if not (folder / ".ready").exists():
        shutil.rmtree(stores, ignore_errors=True)
        stores.mkdir(parents=True)
        free = shutil.disk_usage(stores).free
        expect(
            free > size.records * BYTES_A_RECORD,
            lambda: f"{stores} has {free >> 20} MiB free, {size.records * BYTES_A_RECORD >> 20} are needed",
        )
        course.say(f"filling a store with {size.records:,} records, once; it stays in {stores}")
        home = Home.fresh(folder, course.program)
        _fill(course, home, size)
        course.say("verifying its chain")
        home.tell("audit", "verify")
        (folder / ".ready").touch()
    return home


def _fill(course: Course, home: Home, size: Size) -> None:
    argv = [os.fspath(course.python), "-m", "bench.populate", os.fspath(home.folder)]
    done = subprocess.run(
        [*argv, str(size.packs), str(size.grants), str(size.records)],
        env=course.with_bench(home.environment()),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    expect(not done.returncode, lambda: f"the store could not be filled: {done.stderr.strip()[-300:]}")


def _stamp(size: Size) -> str:
    """A name that changes with the sizes and with all code that decides what is in such a store."""
    parts = [repr(size).encode()]
    parts += [(ROOT / "bench" / name).read_bytes() for name in ("populate.py", "commands.py")]
    for room in ROOMS:
        folder = ROOT / "src" / "hcpx" / room
        parts += [path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".sql")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]

"""A process that uses a store, for tests of many at once; it says what it was told."""

from __future__ import annotations

import sys
from itertools import count
from typing import TYPE_CHECKING

from hcpx.ports import AuditUnavailable, StoreUnavailable
from hcpx.runtime.clock import SystemClock
from hcpx.store.database import Database
from hcpx.store.session_rows import NewSession
from hcpx.vocabulary.capability import Grant
from tests.store.world import ADA, TENANT, World, intent, outcome, record, use

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def say(text: str) -> None:
    """Acknowledge something, in one write."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def read(world: World) -> None:
    """Record a read."""
    audit_id = world.clock.new_id("a")
    world.journal.settle(record(audit_id, outcome="ok"), started=True)
    say(f"read {audit_id}")


def write(world: World) -> None:
    """Record a write under a key of its own, the adapter being a word on stdout."""
    audit_id = world.clock.new_id("a")
    key = use(audit_id)
    denial = world.journal.intend(intent(audit_id), (), key)
    if denial is not None:
        raise RuntimeError(denial.error)
    say(f"start {audit_id}")
    world.journal.settle(outcome(audit_id), started=True, use=key, result=b'{"ok":true}')
    say(f"write {audit_id}")


def change(world: World) -> None:
    """Make a session with an activation, and a grant."""
    _, row = world.sessions.new(NewSession(TENANT, ADA, activations={"ledger": "d"}))
    say(f"session {row.id}")
    name = row.id.replace("_", "-")
    world.grants.add(TENANT, f"user:{name}", Grant("verb.exec.read", "ledger", ("*",)))
    say(f"grant user:{name}")


def everything(world: World) -> None:
    """Do a bit of all."""
    read(world)
    write(world)
    change(world)


def begin(world: World) -> None:
    """Begin a write and go on to wait for its end."""
    audit_id = world.clock.new_id("a")
    world.journal.intend(intent(audit_id), (), use())
    say(f"start {audit_id}")
    sys.stdin.read()
    world.journal.settle(outcome(audit_id), started=True, use=use(), result=b'{"ok":true}')
    say(f"write {audit_id}")


def hold(world: World) -> None:
    """Be the only writer until stdin ends."""
    with world.database.writing(durable=False):
        say("held")
        sys.stdin.read()


WORK = {
    "read": read,
    "write": write,
    "change": change,
    "everything": everything,
    "begin": begin,
    "hold": hold,
}


def main(argv: Sequence[str]) -> None:
    """Do some work so many times (0: without end) on the store in a folder: `HOME WORK TIMES`."""
    home, what, times = argv
    world = World(Database.open(home), SystemClock())  # pyright: ignore[reportArgumentType]
    turns: Iterator[int] = iter(range(int(times))) if int(times) else count()
    for _ in turns:
        try:
            WORK[what](world)
        except (StoreUnavailable, AuditUnavailable) as problem:
            say(f"{type(problem).__name__} {problem}")
            break

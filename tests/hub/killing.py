"""Does a piece of work in one child process after the other, each killed one step later than the one before.

Steps are what reaches the disk: `python killing.py HOME WORK` prints how many children were killed. After
each, another child looks whether what must still be there is there.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hcpx.hub import keychain, vault
from hcpx.store.vault_rows import VaultRows
from tests.hub.world import ADA, World, secret_of, stored

STEPS = (
    *((os, name) for name in ("open", "write", "fsync", "link", "unlink", "replace", "fdatasync")),
    *((VaultRows, name) for name in ("put", "renew", "settle_meta", "_put")),
    (vault.Vault, "_resealed"),
    (keychain.Keychain, "make"),
)


def kill_at(step: int) -> None:
    """Let this process die in front of the step of that number, which may lie inside another one."""
    count = itertools.count(1)

    def counted(work: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            result = work(*args, **kwargs)
            if next(count) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return wrapper

    for owner, name in STEPS:
        setattr(owner, name, counted(getattr(owner, name)))


def rotate(world: World) -> None:
    world.vault().rotate()


def keep_first(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    world.vault().digest_key()


def check_rotated(home: Path) -> None:
    world = World(home)
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1", "the secret is lost"
    assert world.vault().digest_key().hex() == (home / "digests").read_text(), "digests are not comparable"
    assert world.vault().status().problem is None
    world.database.close()


def check_first(home: Path) -> None:
    world = World(home)
    assert secret_of(world.vault().open(ADA)) in (None, "tok-ada-1")
    digests = world.vault().digest_key()
    world.vault().keep(ADA, stored("tok-ada-2"))
    assert secret_of(world.vault().open(ADA)) == "tok-ada-2"
    assert world.vault().digest_key() == digests
    world.database.close()


def in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as problem:  # noqa: BLE001 -- a child of a fork must not go on
            sys.stderr.write(f"{problem!r}\n")
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Round:
    """One child, killed at one step, and one that looks at what it left."""

    def __init__(self, home: Path, work: str, step: int) -> None:
        self.folder = home if work == "rotate" else home / str(step)
        self.rotates = work == "rotate"
        self.step = step

    def prepare(self) -> None:
        World(self.folder).database.close()

    def work(self) -> None:
        world = World(self.folder)
        kill_at(self.step)
        (rotate if self.rotates else keep_first)(world)

    def check(self) -> None:
        (check_rotated if self.rotates else check_first)(self.folder)


def main(home: Path, work: str) -> int:
    for step in itertools.count(1):
        one = Round(home, work, step)
        in_child(one.prepare)
        end = in_child(one.work)
        if end not in (0, -signal.SIGKILL) or in_child(one.check) != 0:
            sys.stderr.write(f"at step {step}\n")
            return 1
        if end == 0:
            sys.stdout.write(f"{step - 1}\n")
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))

"""Rotation renews every secret at once, and no kill at any step loses one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from hcpx.hub.seal import DigestSeal
from hcpx.hub.slot import Slot
from hcpx.hub.vault import SecretRefused
from tests.hub.world import ADA, World, secret_of, stored

KILLING = Path(__file__).with_name("killing.py")


def run_killing(home: Path, work: str) -> int:
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(KILLING), str(home), work]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return int(done.stdout)


def test_rotation_changes_key_and_ciphertexts_and_nothing_else(world: World) -> None:
    slots = [Slot("acme", f"user:u{number}", "ledger", "user") for number in range(20)]
    for number, one in enumerate(slots):
        world.vault().keep(one, stored(f"tok-{number}", expires_at=7.5, credential_id=f"cred_{number}"))
    before, key = world.rows.list(), (world.home / "vault.key").read_bytes()
    digest = DigestSeal(world.vault()).digest(b"x")
    world.clock.time += 100
    assert world.vault().rotate() == 20
    after = world.rows.list()
    assert (world.home / "vault.key").read_bytes() != key
    assert not (world.home / "vault.key.next").exists()
    assert {row.ciphertext for row in before}.isdisjoint(row.ciphertext for row in after)
    blank = {"nonce": b"", "ciphertext": b""}
    assert [msgspec.structs.replace(row, **blank) for row in after] == [
        msgspec.structs.replace(row, **blank) for row in before
    ]
    assert [secret_of(world.vault().open(one)) for one in slots] == [f"tok-{number}" for number in range(20)]
    assert DigestSeal(world.vault()).digest(b"x") == digest


def test_an_empty_vault_rotates_too(world: World) -> None:
    assert world.vault().rotate() == 0
    first = (world.home / "vault.key").read_bytes()
    assert world.vault().rotate() == 0
    assert (world.home / "vault.key").read_bytes() != first


def test_a_row_that_does_not_open_stops_the_rotation_and_changes_nothing(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    row = world.vault().look(ADA)
    assert row is not None
    world.rows.put(msgspec.structs.replace(row, principal="user:eve"))
    before = world.rows.list()
    with pytest.raises(SecretRefused, match=r"user:eve.*hcpx connect ledger"):
        world.vault().rotate()
    assert world.rows.list() == before
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"
    assert world.vault().forget(Slot("acme", "user:eve", "ledger", "user"))
    assert world.vault().rotate() == 1


@pytest.mark.slow
def test_a_rotation_killed_at_any_step_loses_nothing(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    (world.home / "digests").write_text(world.vault().digest_key().hex())
    world.database.close()
    assert run_killing(world.home, "rotate") > 20


@pytest.mark.slow
def test_the_first_need_killed_at_any_step_leaves_a_vault_that_works(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    assert run_killing(tmp_path / "homes", "first") > 20


def test_a_rotation_that_finds_no_space_changes_nothing(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    key = (world.home / "vault.key").read_bytes()
    (world.home / "vault.key.new").mkdir()
    with pytest.raises(Exception, match=r"vault\.key.*nothing was changed"):
        world.vault().rotate()
    assert (world.home / "vault.key").read_bytes() == key
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"

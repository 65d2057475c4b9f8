"""Digests are keyed, stable, and their key never lies open."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode

import msgspec
import pytest

from hcpx.hub.master_key import VaultKeyProblem, fresh_key, master_key
from hcpx.hub.seal import DigestSeal
from hcpx.hub.wrapping import fresh_wrapped, rewrapped, unwrapped, wrapped
from tests.hub.world import World


def test_a_digest_is_an_hmac_under_the_vaults_key(world: World) -> None:
    seal = DigestSeal(world.vault())
    key = world.vault().digest_key()
    assert seal.digest(b"4711") == f"hmac-sha256:{hmac.new(key, b'4711', hashlib.sha256).hexdigest()}"
    assert seal.digest(b"4711") == DigestSeal(world.vault()).digest(b"4711") != seal.digest(b"4712")
    assert hashlib.sha256(b"4711").hexdigest() not in seal.digest(b"4711")


def test_another_store_has_other_digests(world: World) -> None:
    other = World(world.home.parent / "other")
    assert DigestSeal(world.vault()).digest(b"4711") != DigestSeal(other.vault()).digest(b"4711")
    other.database.close()


def test_the_key_of_digests_lies_in_no_file(world: World) -> None:
    key = world.vault().digest_key()
    master = b64decode((world.home / "vault.key").read_bytes())
    world.database.close()
    for file in world.home.iterdir():
        content = file.read_bytes()
        assert key not in content
        assert key.hex().encode() not in content
        assert master not in content


def test_a_wrapped_key_opens_under_its_own_master_key_only() -> None:
    first, second = master_key(bytes(32)), fresh_key()
    secret = bytes(range(32))
    text = wrapped(secret, first)
    assert secret not in text
    assert unwrapped(text, first) == secret
    assert unwrapped(rewrapped(text, first, second), second) == secret
    assert wrapped(secret, first) != text
    assert len(fresh_wrapped(first)) == len(text)
    with pytest.raises(VaultKeyProblem):
        unwrapped(text, second)


@pytest.mark.parametrize("place", range(81))
def test_a_wrapped_key_that_was_changed_anywhere_is_refused(place: int) -> None:
    key = master_key(bytes(32))
    text = wrapped(bytes(range(32)), key)
    assert len(text) == 81
    changed = text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]
    for broken in (changed, text[:place]):
        with pytest.raises(VaultKeyProblem, match="put a backup of the store back"):
            unwrapped(broken, key)


def test_a_key_shows_its_id_alone() -> None:
    key = master_key(b"k" * 32)
    assert repr(key) == f"MasterKey({key.id.hex()})"
    assert key.derived("a") != key.derived("b")
    assert msgspec.structs.asdict(key) == {"secret": b"k" * 32, "id": key.id}

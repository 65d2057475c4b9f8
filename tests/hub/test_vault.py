"""Secrets at rest open in their own place, under the right key, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from base64 import b64encode
from typing import TYPE_CHECKING

import msgspec
import pytest

from hcpx.hub.master_key import VaultKeyProblem
from hcpx.hub.os_keyring import system_keyring
from hcpx.hub.slot import Slot, slot
from hcpx.hub.vault import SecretRefused, VaultStatus
from hcpx.store.vault_rows import VaultRows
from tests.hub.world import ADA, MemoryKeyring, World, secret_of, stored

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.ports.rows import SecretRow


def test_a_secret_comes_back_and_is_not_in_the_store(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-plain"))
    found = world.vault().open(ADA)
    assert secret_of(found) == "tok-ada-plain"
    assert world.vault().look(ADA) == world.rows.get("acme", "user:ada", "ledger", "user")
    world.database.close()
    for file in world.home.iterdir():
        assert b"tok-ada-plain" not in file.read_bytes()


def test_what_was_never_kept_is_not_there(world: World) -> None:
    assert world.vault().open(ADA) is None
    assert world.vault().look(ADA) is None
    assert world.vault().list("acme") == []
    assert not world.vault().forget(ADA)
    assert world.files() == ["hcpx.db", "hcpx.db-shm", "hcpx.db-wal"]


def test_a_newer_secret_takes_the_place_of_the_older_one(world: World) -> None:
    world.vault().keep(ADA, stored("tok-1"))
    world.vault().keep(ADA, stored("tok-2", credential_id="cred_2"))
    assert secret_of(world.vault().open(ADA)) == "tok-2"
    assert [row.meta["id"] for row in world.vault().list("acme")] == ["cred_2"]
    assert world.vault().list("other") == []
    assert world.vault().forget(ADA)
    assert world.vault().open(ADA) is None


@pytest.mark.parametrize(
    "place",
    [
        Slot("other", "user:ada", "ledger", "user"),
        Slot("acme", "user:eve", "ledger", "user"),
        Slot("acme", "user:ada", "bank", "user"),
        Slot("acme", "user:ada", "ledger", "local"),
    ],
)
def test_a_row_that_was_copied_elsewhere_does_not_open(world: World, place: Slot) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    row = world.vault().look(ADA)
    assert row is not None
    copied = msgspec.structs.replace(
        row, tenant=place.tenant, principal=place.principal, pack_id=place.pack_id, family=place.family
    )
    assert world.rows.put(copied)
    with pytest.raises(SecretRefused, match="does not belong where it lies"):
        world.vault().open(place)
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"


def test_no_two_slots_have_the_same_associated_data() -> None:
    slots = [
        Slot("a", "b", "c", "d"),
        Slot("ab", "", "c", "d"),
        Slot("a", "bc", "", "d"),
        Slot("", "a", "b", "cd"),
        Slot("a\0", "b", "c", "d"),
        Slot("a", "\0b", "c", "d"),
    ]
    assert len({one.associated() for one in slots}) == len(slots)


def test_local_and_mothership_belong_to_the_tenant_and_user_to_the_principal() -> None:
    assert slot("acme", "user:ada", "bank", "user") == Slot("acme", "user:ada", "bank", "user")
    assert slot("acme", "user:ada", "bank", "local") == Slot("acme", "*", "bank", "local")
    assert slot("acme", "user:ada", "bank", "mothership") == Slot("acme", "*", "bank", "mothership")


@pytest.mark.parametrize("field", ["nonce", "ciphertext"])
def test_a_row_that_was_changed_does_not_open(world: World, field: str) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    row = world.vault().look(ADA)
    assert row is not None
    for value in (b"", bytes(12), getattr(row, field)[:-1] + bytes([getattr(row, field)[-1] ^ 1])):
        world.rows.put(msgspec.structs.replace(row, **{field: value}))
        with pytest.raises(SecretRefused):
            world.vault().open(ADA)


def test_equal_secrets_do_not_look_equal(world: World) -> None:
    first = world.vault().keep(ADA, stored("tok-ada-1"))
    second = world.vault().keep(ADA, stored("tok-ada-1"))
    assert len(first.nonce) == 12
    assert first.nonce != second.nonce
    assert first.ciphertext != second.ciphertext


def test_nothing_secret_is_in_a_repr(world: World) -> None:
    row = world.vault().keep(ADA, stored("tok-ada-1"))
    key = (world.home / "vault.key").read_text().strip()
    shown = repr((row, stored("tok-ada-1"), world.vault().open(ADA), world.vault().status()))
    assert "tok-ada" not in shown
    assert key not in shown


# --- the key ------------------------------------------------------------------------------------------------


def test_the_key_is_a_file_for_its_owner_alone_beside_the_store(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    file = world.home / "vault.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert world.vault().status() == VaultStatus(
        secrets=1,
        key_id=(world.rows.meta("key") or b"").hex(),
        place=f"the file {file}",
        problem=None,
        rotating=False,
    )


def test_looking_at_an_empty_vault_makes_no_key(world: World) -> None:
    assert world.vault().status() == VaultStatus(0, None, None, None, rotating=False)
    assert not (world.home / "vault.key").exists()


CONTENTS = {
    "as it is": bytes(range(32)),
    "base64": b64encode(bytes(range(32))) + b"\n",
    "hexadecimal": bytes(range(32)).hex().upper().encode() + b"\n",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
def test_a_configured_key_is_read_in_each_of_its_forms(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    file.chmod(0o600)
    world = World(tmp_path / "home", str(file))
    world.vault().keep(ADA, stored("tok-ada-1"))
    file.write_bytes(CONTENTS["as it is"])
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"
    assert not (world.home / "vault.key").exists()
    world.database.close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"a" * 32,
        b"x" * 31,
        bytes(33),
        b64encode(bytes(31)),
        b"0" * 63,
        b64encode(bytes(32)) + b"==",
    ],
)
def test_a_short_or_malformed_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    file.chmod(0o600)
    world = World(tmp_path / "home", str(file))
    with pytest.raises(VaultKeyProblem, match="holds no vault key: it must be 32 random bytes"):
        world.vault().keep(ADA, stored("tok-ada-1"))
    assert file.read_bytes() == content
    assert world.rows.list() == []
    world.database.close()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o666])
def test_a_key_that_others_can_read_or_write_is_refused(world: World, mode: int) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    file = world.home / "vault.key"
    file.chmod(mode)
    with pytest.raises(VaultKeyProblem, match=r"open to other users.*chmod 600"):
        world.vault().open(ADA)
    file.chmod(0o600)
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"


def test_a_key_that_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "key"
    os.mkfifo(pipe, 0o600)
    for path, why in (
        (pipe, "not a plain file"),
        (tmp_path, "not a plain file"),
        (tmp_path / "no", "does not exist"),
    ):
        world = World(tmp_path / "home", str(path))
        with pytest.raises(VaultKeyProblem, match=why):
            world.vault().keep(ADA, stored("tok-ada-1"))
        world.database.close()


def test_a_configured_key_may_be_a_link_as_mounted_secrets_are(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "link").symlink_to("key")
    world = World(tmp_path / "home", str(tmp_path / "link"))
    world.vault().keep(ADA, stored("tok-ada-1"))
    assert world.vault().rotate() == 1
    assert (tmp_path / "link").is_symlink()
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"
    world.database.close()


def test_another_key_is_an_error_that_destroys_nothing(world: World, tmp_path: Path) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    row = world.vault().look(ADA)
    other = tmp_path / "other"
    other.write_bytes(bytes(range(32)))
    other.chmod(0o600)
    lost = World(world.home, str(other))
    for attempt in (
        lambda: lost.vault().open(ADA),
        lambda: lost.vault().keep(ADA, stored("tok-ada-2")),
        lambda: lost.vault().rotate(),
        lambda: lost.vault().digest_key(),
    ):
        with pytest.raises(VaultKeyProblem, match="put the right key back"):
            attempt()
    status = lost.vault().status()
    assert (status.secrets, status.place) == (1, None)
    assert "put the right key back" in (status.problem or "")
    lost.database.close()
    assert world.vault().look(ADA) == row
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"


def test_a_missing_key_is_never_made_anew_while_secrets_exist(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    digests = world.vault().digest_key()
    (world.home / "vault.key").rename(world.home / "away")
    for attempt in (
        lambda: world.vault().open(ADA),
        lambda: world.vault().keep(ADA, stored("x")),
        lambda: world.vault().rotate(),
        lambda: world.vault().digest_key(),
    ):
        with pytest.raises(VaultKeyProblem, match="put the right key back"):
            attempt()
    assert not (world.home / "vault.key").exists()
    (world.home / "away").rename(world.home / "vault.key")
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"
    assert world.vault().digest_key() == digests


def test_with_the_key_lost_disconnecting_and_rotating_begins_anew(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    digests = world.vault().digest_key()
    (world.home / "vault.key").unlink()
    assert world.vault().forget(ADA)
    with pytest.raises(VaultKeyProblem):
        world.vault().keep(ADA, stored("tok-ada-2"))
    assert world.vault().rotate() == 0
    world.vault().keep(ADA, stored("tok-ada-2"))
    assert secret_of(world.vault().open(ADA)) == "tok-ada-2"
    assert world.vault().digest_key() != digests


def test_many_threads_at_the_first_need_make_one_key(world: World) -> None:
    start = threading.Barrier(8)
    digests: list[bytes] = []

    def first(number: int) -> None:
        start.wait()
        if number % 2:
            digests.append(world.vault().digest_key())
        world.vault().keep(Slot("acme", f"user:u{number}", "ledger", "user"), stored(f"tok-{number}"))

    threads = [threading.Thread(target=first, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(digests)) == 1
    found = [world.vault().open(Slot("acme", f"user:u{number}", "ledger", "user")) for number in range(8)]
    assert [secret_of(one) for one in found] == [f"tok-{number}" for number in range(8)]


PROCESS = """
import sys
from pathlib import Path
from tests.hub.world import World, stored
from hcpx.hub.slot import Slot
world = World(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
world.vault().keep(Slot("acme", f"user:u{sys.argv[2]}", "ledger", "user"), stored(f"tok-{sys.argv[2]}"))
print(world.vault().digest_key().hex())
"""


def test_processes_at_the_first_need_make_one_key(world: World) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(world.home), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for number in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    answers = [process.communicate("go\n")[0] for process in processes]
    assert len(set(answers)) == 1
    found = [world.vault().open(Slot("acme", f"user:u{number}", "ledger", "user")) for number in range(4)]
    assert [secret_of(one) for one in found] == [f"tok-{number}" for number in range(4)]
    assert world.files() == [
        "hcpx.db",
        "hcpx.db-shm",
        "hcpx.db-wal",
        "vault.key",
        "vault.lock",
    ]


def test_without_a_cipher_the_key_of_digests_is_had(world: World) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.hub.world import World;"
        f"World(Path({str(world.home)!r})).vault().digest_key();"
        "print([name for name in sys.modules if name.startswith(('cryptography', 'keyring'))])"
    )
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
    assert shown.stdout == "[]\n"


# --- the keyring --------------------------------------------------------------------------------------------


def test_the_keyring_keeps_the_key_where_there_is_one(world: World) -> None:
    ring = world.keyring = MemoryKeyring()
    world.vault().keep(ADA, stored("tok-ada-1"))
    assert len(ring.kept) == 1
    assert not (world.home / "vault.key").exists()
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"
    assert world.vault().rotate() == 1
    assert len(ring.kept) == 1
    assert secret_of(world.vault().open(ADA)) == "tok-ada-1"
    assert (world.vault().status().place or "").startswith("the system's keyring")


def test_a_keyring_that_cannot_be_reached_is_an_error_and_no_new_key(world: World) -> None:
    ring = world.keyring = MemoryKeyring()
    world.vault().keep(ADA, stored("tok-ada-1"))

    def locked() -> None:
        raise RuntimeError("prompt dismissed")

    ring.trouble = locked
    with pytest.raises(VaultKeyProblem, match="does not answer"):
        world.vault().open(ADA)
    world.keyring = None
    assert world.vault().forget(ADA)
    for attempt in (world.vault().rotate, lambda: world.vault().keep(ADA, stored("tok"))):
        with pytest.raises(VaultKeyProblem, match="cannot be reached"):
            attempt()


def test_a_keyring_that_forgets_is_noticed_before_anything_is_encrypted(world: World) -> None:
    class Forgetful(MemoryKeyring):
        def set_password(self, service: str, username: str, password: str) -> None:
            pass

    world.keyring = Forgetful()
    with pytest.raises(VaultKeyProblem, match="did not keep the key"):
        world.vault().keep(ADA, stored("tok-ada-1"))
    assert world.rows.list() == []


def test_a_key_file_that_is_in_use_is_not_left_for_a_keyring_that_comes_later(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    world.keyring = MemoryKeyring()
    assert world.vault().rotate() == 1
    world.vault().keep(ADA, stored("tok-ada-2"))
    assert world.keyring.kept == {}
    assert secret_of(world.vault().open(ADA)) == "tok-ada-2"


class _Package:
    """Stands for the package `keyring` with one backend."""

    def __init__(self, backend: object) -> None:
        self.backend = backend

    def get_keyring(self) -> object:
        return self.backend


def _backend(module: str, **attributes: object) -> object:
    return type("Keyring", (), {"__module__": module, **attributes})()


@pytest.mark.parametrize(
    ("module", "safe"),
    [
        ("keyring.backends.SecretService", True),
        ("keyring.backends.macOS", True),
        ("keyring.backends.fail", False),
        ("keyring.backends.null", False),
        ("keyrings.alt.file", False),
        ("somewhere.else", False),
    ],
)
def test_only_a_keyring_of_the_system_is_trusted(
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    safe: bool,
) -> None:
    backend = _backend(module)
    monkeypatch.setitem(sys.modules, "keyring", _Package(backend))
    assert system_keyring() is (backend if safe else None)
    chain = _backend("keyring.backends.chainer", backends=[_backend("keyrings.alt.file"), backend])
    monkeypatch.setitem(sys.modules, "keyring", _Package(chain))
    assert system_keyring() is (backend if safe else None)


def test_without_the_package_there_is_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert system_keyring() is None


class RotatedUnderway(VaultRows):
    """The rows of a store whose key another process rotates right behind the first read."""

    def __init__(self, world: World) -> None:
        super().__init__(world.database)
        self.world = world
        self.rotated: int | None = None

    def get(self, tenant: str, principal: str, pack_id: str, family: str) -> SecretRow | None:
        found = super().get(tenant, principal, pack_id, family)
        self.rotate()
        return found

    def meta(self, name: str) -> bytes | None:
        found = super().meta(name)
        if name == "digests":
            self.rotate()
        return found

    def rotate(self) -> None:
        if self.rotated is None:
            self.rotated = self.world.vault().rotate()


def test_a_rotation_between_the_row_and_the_key_is_noticed(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    digests = world.vault().digest_key()
    rows = RotatedUnderway(world)
    assert secret_of(world.vault_over(rows).open(ADA)) == "tok-ada-1"
    assert rows.rotated == 1
    rows = RotatedUnderway(world)
    assert world.vault_over(rows).digest_key() == digests
    assert rows.rotated == 1


def test_a_store_that_others_wrote_to_meanwhile_is_never_written_under_an_old_key(world: World) -> None:
    first = world.vault()
    first.keep(ADA, stored("tok-ada-1"))
    world.vault().rotate()
    first.keep(ADA, stored("tok-ada-2"))
    assert secret_of(world.vault().open(ADA)) == "tok-ada-2"

"""A store in a folder, and a vault over it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from hcpx.hub.hub import Hub
from hcpx.hub.keychain import Keychain
from hcpx.hub.minters.vault_secret import KIND, PastedSecret, VaultSecret
from hcpx.hub.slot import Slot
from hcpx.hub.vault import Stored, Vault
from hcpx.store.create import create
from hcpx.store.database import Database
from hcpx.store.vault_rows import VaultRows
from hcpx.vocabulary.binding import MintRequest

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.hub.os_keyring import Keyring

NOW = 1_800_000_000.0
ADA = Slot("acme", "user:ada", "ledger", "user")


class Clock:
    def __init__(self) -> None:
        self.time = NOW
        self._ids = itertools.count(1)

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return 0.0

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids)}"


class World:
    """One store; each `vault()` is another process's view of it."""

    def __init__(self, home: Path, key_file: str | None = None) -> None:
        self.home = home
        self.key_file = key_file
        self.clock = Clock()
        self.keyring: Keyring | None = None
        if not (home / "hcpx.db").exists():
            create(str(home), "acme", "user:ada", self.clock)
        self.database = Database.open(str(home))
        self.rows = VaultRows(self.database)

    def files(self) -> list[str]:
        return sorted(path.name for path in self.home.iterdir())

    def find_keyring(self) -> Keyring | None:
        return self.keyring

    def vault(self) -> Vault:
        return self.vault_over(self.rows)

    def vault_over(self, rows: VaultRows) -> Vault:
        keychain = Keychain(rows, str(self.home), self.key_file, self.find_keyring)
        return Vault(rows, keychain, self.clock.now)

    def hub(self) -> Hub:
        return Hub(self.vault(), {KIND: VaultSecret()}, self.clock.now)


def stored(secret: str, expires_at: float | None = None, credential_id: str = "cred_1") -> Stored:
    return Stored(credential_id, KIND, msgspec.Raw(msgspec.json.encode(PastedSecret(secret))), expires_at)


def secret_of(found: Stored | None) -> str | None:
    return None if found is None else msgspec.json.decode(found.content, type=PastedSecret).secret


def ask(family: str = "user", principal: str = "user:ada", tenant: str = "acme", **changes: object) -> MintRequest:
    plain = MintRequest(
        tenant=tenant,
        principal=principal,
        actor=None,
        pack_id="ledger",
        pack_digest="sha256:1",
        family=family,
        env={"LEDGER_TOKEN": "{{access_token}}"},
    )
    return msgspec.structs.replace(plain, **changes)


class MemoryKeyring:
    """A keyring that keeps, as a desktop's does."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.trouble: Callable[[], None] = lambda: None

    def get_password(self, service: str, username: str) -> str | None:
        self.trouble()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.trouble()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.trouble()
        del self.kept[service, username]

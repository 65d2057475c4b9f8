"""A master key in the keyring of the operating system, where there is one that keeps secrets."""

from __future__ import annotations

from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final, Protocol

from .master_key import KEY_BYTES, MasterKey, VaultKeyProblem, fresh_key, master_key

SERVICE: Final = "hcpx vault"

# The modules whose backends hand secrets to the system. Others keep them in plain text, nowhere, or unasked.
_SAFE: Final = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)


class Keyring(Protocol):
    """What is used of a backend of the package `keyring`."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return what is kept under these two names."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep it."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Forget it."""
        ...


def system_keyring() -> Keyring | None:
    """Return the keyring of this machine, or None where there is no package `keyring` or no safe backend."""
    try:
        package: Any = import_module("keyring")
    except ImportError:
        return None
    try:
        found: Any = package.get_keyring()
        backends: list[Any] = list(getattr(found, "backends", (found,)))
    except Exception:  # noqa: BLE001 -- a keyring that cannot even be found is none
        return None
    safe = (backend for backend in backends if type(backend).__module__.startswith(_SAFE))
    return next(safe, None)


class KeyringKey:
    """The key under the name `account`, the next one under `account` + ` next`."""

    def __init__(self, keyring: Keyring, account: str) -> None:
        self.name = f"the system's keyring ({SERVICE}, {account})"
        self._keyring = keyring
        self._account = account
        self._next = f"{account} next"

    def found(self) -> Iterator[MasterKey]:
        """Return the key in use and the next one, as far as they exist."""
        for account in (self._account, self._next):
            key = self._read(account)
            if key is not None:
                yield key

    def make(self) -> MasterKey:
        """Make a key where there is none; the vault's lock keeps others away meanwhile."""
        found = self._read(self._account)
        return self._write(self._account, fresh_key()) if found is None else found

    def stage(self, key: MasterKey) -> None:
        """Make the next key durable beside the one in use."""
        self._write(self._next, key)

    def switch(self, key: MasterKey) -> None:
        """Put the next key in the place of the one in use, if it is this one."""
        staged = self._read(self._next)
        if staged is None or staged.id != key.id:
            return
        self._write(self._account, key)
        self._asked(lambda: self._keyring.delete_password(SERVICE, self._next))

    def _read(self, account: str) -> MasterKey | None:
        text: str | None = self._asked(lambda: self._keyring.get_password(SERVICE, account))
        if text is None:
            return None
        try:
            secret = a2b_base64(text, strict_mode=True)
        except (NotBase64, ValueError):
            secret = b""
        if len(secret) != KEY_BYTES:
            raise VaultKeyProblem(f"{self.name} holds something that is no vault key; restore it from a copy")
        return master_key(secret)

    def _write(self, account: str, key: MasterKey) -> MasterKey:
        self._asked(
            lambda: self._keyring.set_password(SERVICE, account, b2a_base64(key.secret, newline=False).decode())
        )
        kept = self._read(account)
        if kept != key:
            raise VaultKeyProblem(f"{self.name} did not keep the key; nothing was changed")
        return key

    def _asked(self, question: Any) -> Any:  # noqa: ANN401 -- the backends have no types of ours
        try:
            return question()
        except VaultKeyProblem:
            raise
        except Exception as problem:  # noqa: BLE001 -- each backend has errors of its own
            raise VaultKeyProblem(
                f"{self.name} does not answer ({type(problem).__name__}); unlock it and try again"
            ) from None

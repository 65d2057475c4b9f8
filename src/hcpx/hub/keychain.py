"""Which master key the store's secrets are under, and where it lies (Spec 03, the vault)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from hcpx.ports.rows import SecretRows

from .key_file import KeyFile
from .master_key import KeyPlace, MasterKey, VaultKeyMissing, VaultKeyProblem
from .wrapping import fresh_wrapped

if TYPE_CHECKING:
    from .os_keyring import Keyring

KEY_FILE: Final = "vault.key"
_LOCK_FILE: Final = "vault.lock"

# Facts about the vault that the store keeps: the key's id, the wrapped key of digests, the keyring's account.
KEY_FACT: Final = "key"
DIGESTS_FACT: Final = "digests"
_ACCOUNT_FACT: Final = "account"


class Keychain:
    """Finds the master key: in the configured file if one is set, else in the system's keyring or a file.

    The store names the key that it is under. So another key is noticed before anything is opened or written
    with it, and of two keys on the way through a rotation the right one is taken.
    """

    def __init__(
        self,
        rows: SecretRows,
        home: str,
        key_file: str | None = None,
        find_keyring: Callable[[], Keyring | None] | None = None,
    ) -> None:
        self._rows = rows
        self._home = home
        self._configured = key_file is not None
        self._file = KeyFile(key_file or os.path.join(home, KEY_FILE), configured=self._configured)
        self._find = find_keyring
        self._key: MasterKey | None = None

    def in_use(self) -> MasterKey:
        """Return the key of the store's secrets; one that was rotated away meanwhile is found anew."""
        fact = self._rows.meta(KEY_FACT)
        if self._key is None or self._key.id != fact:
            found = self.with_place()
            if found is None:
                raise _missing("no key", self._file.name)
            self._key = found[0]
        return self._key

    def in_use_or_new(self) -> MasterKey:
        """Return the key of the store's secrets, made now where it never had one."""
        if self._rows.meta(KEY_FACT) is None:
            with self.locked():
                if self._rows.meta(KEY_FACT) is None:
                    self.make()
        return self.in_use()

    def with_place(self) -> tuple[MasterKey, KeyPlace] | None:
        """Return the key that the store names and where it lies, or None where the store names none yet.

        Raises `VaultKeyMissing` where no place has that key.
        """
        fact = self._rows.meta(KEY_FACT)
        if fact is None:
            return None
        for place in self._places():
            for key in place.found():
                if key.id == fact:
                    return key, place
        raise _missing(f"the vault key {fact.hex()}", self._file.name)

    def make(self) -> None:
        """Have a key and name it in the store: the first one, or one in the place of one that is lost."""
        key = next(self._file.found(), None) or self._new_place().make()
        if self._rows.meta(KEY_FACT) is None:
            self._rows.settle_meta(KEY_FACT, key.id)
        else:
            self._rows.renew(lambda row: row, {KEY_FACT: key.id, DIGESTS_FACT: fresh_wrapped(key)})

    @contextmanager
    def locked(self) -> Generator[None]:
        """Be the only one who makes or rotates keys of this store; the lock dies with its process."""
        path = os.path.join(self._home, _LOCK_FILE)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise VaultKeyProblem(f"{path}: {(problem.strerror or 'unknown error').lower()}") from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _places(self) -> Iterator[KeyPlace]:
        """Return where the key may lie: the cheap place first, the keyring only where one was used."""
        yield self._file
        account = None if self._configured else self._rows.meta(_ACCOUNT_FACT)
        if account is not None:
            from .os_keyring import KeyringKey

            keyring = self._keyring()
            if keyring is None:
                raise VaultKeyProblem(
                    "the vault key is in the system's keyring, which cannot be reached from here; log in"
                    " where it can, with the extra hcpx[keyring] installed"
                )
            yield KeyringKey(keyring, account.decode())

    def _new_place(self) -> KeyPlace:
        keyring = None if self._configured else self._keyring()
        if keyring is None:
            return self._file
        from .os_keyring import KeyringKey

        account = self._rows.settle_meta(_ACCOUNT_FACT, os.urandom(8).hex().encode())
        return KeyringKey(keyring, account.decode())

    def _keyring(self) -> Keyring | None:
        if self._find is not None:
            return self._find()
        from .os_keyring import system_keyring

        return system_keyring()


def _missing(name: str, where: str) -> VaultKeyMissing:
    return VaultKeyMissing(
        f"{name} is not in {where}; put the right key back from a copy, nothing was changed. Where it is lost"
        " for good: hcpx disconnect each pack, then hcpx vault rotate"
    )

"""The vault: secrets at rest, each bound to the place where it belongs (Spec 03, the vault)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from hcpx.ports import SecretRow, SecretRows

from .key_file import KeyFile
from .master_key import KeyPlace, MasterKey, VaultKeyProblem, fresh_key
from .os_keyring import Keyring, KeyringKey, system_keyring
from .slot import Slot
from .wrapping import rewrapped, unwrapped, wrapped

KEY_FILE: Final = "vault.key"
_LOCK_FILE: Final = "vault.lock"
_ROWS: Final = "rows"

# Facts about the vault that the store keeps: the id of the key, the digest key, the keyring's account.
_KEY: Final = "key"
_DIGESTS: Final = "digests"
_ACCOUNT: Final = "account"


class SecretRefused(Exception):
    """A stored secret does not open where it lies; the message names it and the way out."""


class Stored(msgspec.Struct, frozen=True):
    """What the vault keeps of one credential. `content` is the minter's own JSON, `kind` names that minter.

    `id` names the credential in audit and lists. `expires_at` is Unix seconds.
    """

    id: str
    kind: str
    content: msgspec.Raw
    expires_at: float | None = None

    def __repr__(self) -> str:
        """Name the credential and nothing of its content."""
        return f"Stored({self.id!r}, {self.kind!r})"


class VaultStatus(msgspec.Struct, frozen=True):
    """How the vault stands. `problem` is None where its key is had (or none was needed yet)."""

    secrets: int
    key_id: str | None
    place: str | None
    problem: str | None
    rotating: bool


class Vault:
    """Keeps secrets encrypted in the store. Every method may raise `StoreUnavailable`, for its key too."""

    def __init__(
        self,
        rows: SecretRows,
        home: str,
        key_file: str | None = None,
        *,
        now: Callable[[], float],
        find_keyring: Callable[[], Keyring | None] = system_keyring,
    ) -> None:
        self._rows = rows
        self._home = home
        self._now = now
        self._find_keyring = find_keyring
        self._file = KeyFile(key_file or os.path.join(home, KEY_FILE), configured=key_file is not None)
        self._configured = key_file is not None
        self._key: MasterKey | None = None

    # --- secrets ------------------------------------------------------------------------------------------

    def keep(self, slot: Slot, stored: Stored) -> SecretRow:
        """Store a credential, in the place of an older one of the same slot; durable when it returns."""
        while True:
            key = self._key_or_new()
            row = self._sealed(slot, stored, key)
            if self._rows.put(row, under=(_KEY, key.id)):
                return row

    def open(self, slot: Slot) -> Stored | None:
        """Return the credential of a slot, or None; raises `SecretRefused` where it does not open there."""
        row = self.look(slot)
        while row is not None:
            try:
                return _opened(row, self._key_in_use())
            except SecretRefused:
                again = self.look(slot)
                if again == row:
                    raise
                # A rotation came between the row and the key.
                row = again
        return None

    def look(self, slot: Slot) -> SecretRow | None:
        """Return the row of a slot as it lies in the store: nothing is decrypted."""
        return self._rows.get(slot.tenant, slot.principal, slot.pack_id, slot.family)

    def list(self, tenant: str) -> list[SecretRow]:
        """Return the tenant's rows; nothing is decrypted."""
        return list(self._rows.list(tenant))

    def forget(self, slot: Slot) -> bool:
        """Remove the credential of a slot, also one that does not open; False where there was none."""
        return self._rows.delete(slot.tenant, slot.principal, slot.pack_id, slot.family)

    def digest_key(self) -> bytes:
        """Return the key of digests, made at first need; no cipher is loaded for it."""
        kept = self._rows.meta(_DIGESTS)
        if kept is None:
            self._key_or_new()
            with self._locked():
                kept = self._rows.settle_meta(_DIGESTS, wrapped(os.urandom(32), self._key_in_use()))
        while True:
            try:
                return unwrapped(kept, self._key_in_use())
            except VaultKeyProblem:
                again = self._rows.meta(_DIGESTS)
                if again is None or again == kept:
                    raise
                kept = again

    # --- the key ------------------------------------------------------------------------------------------

    def rotate(self) -> int:
        """Encrypt every secret under a new key; returns how many there are.

        The new key is on disk before anything is encrypted under it, and takes the old one's place after the
        one transaction that changes the rows: killed anywhere, the key that fits is found at the next start.
        Where the key is lost and no secret is left under it, this begins anew, with a new key of digests.
        """
        with self._locked():
            try:
                found = self._with_place()
            except VaultKeyProblem:
                if self._rows.list():
                    raise
                found = None
            if found is None:
                self._make()
                return 0
            old, place = found
            place.switch(old)
            digests = self._rows.settle_meta(_DIGESTS, wrapped(os.urandom(32), old))
            new = fresh_key()
            place.stage(new)
            if new not in place.keys():
                raise VaultKeyProblem(f"{place.name} did not keep the new key; nothing was changed")
            facts = {_KEY: new.id, _DIGESTS: rewrapped(digests, old, new)}
            count = self._rows.renew(lambda row: self._resealed(row, old, new), facts)
            place.switch(new)
            return count

    def status(self) -> VaultStatus:
        """Say how the vault stands; nothing is made, changed or decrypted."""
        fact = self._rows.meta(_KEY)
        secrets = len(self._rows.list())
        key_id = None if fact is None else fact.hex()
        try:
            found = self._with_place()
            if found is None:
                return VaultStatus(secrets, key_id, None, None, rotating=False)
            key, place = found
            rotating = any(other.id != key.id for other in place.keys())
        except VaultKeyProblem as problem:
            return VaultStatus(secrets, key_id, None, str(problem), rotating=False)
        return VaultStatus(secrets, key_id, place.name, None, rotating=rotating)

    def _sealed(self, slot: Slot, stored: Stored, key: MasterKey) -> SecretRow:
        from .cipher import sealed

        nonce, ciphertext = sealed(key.derived(_ROWS), msgspec.json.encode(stored), slot.associated())
        meta: dict[str, object] = {"id": stored.id, "kind": stored.kind, "expires_at": stored.expires_at}
        return SecretRow(
            slot.tenant, slot.principal, slot.pack_id, slot.family, nonce, ciphertext, meta, self._now()
        )

    def _resealed(self, row: SecretRow, old: MasterKey, new: MasterKey) -> SecretRow:
        sealed = self._sealed(_slot(row), _opened(row, old), new)
        return msgspec.structs.replace(row, nonce=sealed.nonce, ciphertext=sealed.ciphertext)

    def _key_in_use(self) -> MasterKey:
        """Return the key that the store's rows are under; one that was rotated away meanwhile is found anew."""
        fact = self._rows.meta(_KEY)
        if self._key is None or self._key.id != fact:
            found = self._with_place()
            if found is None:
                raise _missing("no key", self._file.name)
            self._key = found[0]
        return self._key

    def _key_or_new(self) -> MasterKey:
        if self._rows.meta(_KEY) is None:
            with self._locked():
                if self._rows.meta(_KEY) is None:
                    self._make()
        return self._key_in_use()

    def _with_place(self) -> tuple[MasterKey, KeyPlace] | None:
        """Return the key that the store names and where it lies, or None where the store names none yet."""
        fact = self._rows.meta(_KEY)
        if fact is None:
            return None
        for place in self._places():
            for key in place.keys():
                if key.id == fact:
                    return key, place
        raise _missing(f"the vault key {fact.hex()}", self._file.name)

    def _places(self) -> Iterator[KeyPlace]:
        """Return where a key may lie: the cheap place first, the keyring only where one was used."""
        yield self._file
        account = None if self._configured else self._rows.meta(_ACCOUNT)
        if account is not None:
            keyring = self._find_keyring()
            if keyring is None:
                raise VaultKeyProblem(
                    f"the vault key is in the system's keyring ({account.decode()}), which cannot be reached from"
                    " here; log in where it can, with the extra hcpx[keyring] installed"
                )
            yield KeyringKey(keyring, account.decode())

    def _make(self) -> None:
        """Have a key and name it in the store: the first one, or one in the place of one that is lost."""
        key = next(self._file.keys(), None) or self._new_place().make()
        if self._rows.meta(_KEY) is None:
            self._rows.settle_meta(_KEY, key.id)
        else:
            self._rows.renew(lambda row: row, {_KEY: key.id, _DIGESTS: wrapped(os.urandom(32), key)})

    def _new_place(self) -> KeyPlace:
        keyring = None if self._configured else self._find_keyring()
        if keyring is None:
            return self._file
        account = self._rows.settle_meta(_ACCOUNT, os.urandom(8).hex().encode())
        return KeyringKey(keyring, account.decode())

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Be the only one who makes or rotates keys of this store; a lock dies with its process."""
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


def _missing(name: str, where: str) -> VaultKeyProblem:
    return VaultKeyProblem(
        f"{name} is not in {where}; put the right key back from a copy, nothing was changed. Where it is lost for"
        " good: hcpx disconnect each pack, then hcpx vault rotate"
    )


def ends_at(row: SecretRow) -> float | None:
    """Return when the credential of a row ends, in Unix seconds, or None."""
    end = row.meta.get("expires_at")
    return end if isinstance(end, (int, float)) else None


def _slot(row: SecretRow) -> Slot:
    return Slot(row.tenant, row.principal, row.pack_id, row.family)


def _opened(row: SecretRow, key: MasterKey) -> Stored:
    from .cipher import DoesNotOpen, opened

    slot = _slot(row)
    try:
        return msgspec.json.decode(
            opened(key.derived(_ROWS), row.nonce, row.ciphertext, slot.associated()), type=Stored
        )
    except (DoesNotOpen, msgspec.DecodeError):
        raise SecretRefused(
            f"the stored secret of {row.pack_id} ({row.family}, {row.principal}) does not belong where it lies, or"
            f" was changed; run: hcpx connect {row.pack_id}"
        ) from None

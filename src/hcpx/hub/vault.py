"""The vault: secrets at rest, each bound to the place where it belongs (Spec 03, the vault)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from hcpx.ports.rows import SecretRow, SecretRows

from .keychain import DIGESTS_FACT, KEY_FACT, Keychain
from .master_key import MasterKey, VaultKeyMissing, VaultKeyProblem, fresh_key
from .slot import Slot
from .wrapping import fresh_wrapped, rewrapped, unwrapped

_ROWS: Final = "rows"


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
    """How the vault stands. `problem` is None where its key is had, or none was needed yet.

    `rotating` tells of a rotation that was cut short: the next one tidies up.
    """

    secrets: int
    key_id: str | None
    place: str | None
    problem: str | None
    rotating: bool


class Vault:
    """Keeps secrets encrypted in the store. Every method may raise `StoreUnavailable`, for its key too."""

    def __init__(self, rows: SecretRows, keychain: Keychain, now: Callable[[], float]) -> None:
        self._rows = rows
        self._keychain = keychain
        self._now = now

    def keep(self, slot: Slot, stored: Stored) -> SecretRow:
        """Store a credential, in the place of an older one of the same slot; durable when it returns."""
        while True:
            key = self._keychain.in_use_or_new()
            row = self._sealed(slot, stored, key)
            if self._rows.put(row, under=(KEY_FACT, key.id)):
                return row

    def open(self, slot: Slot) -> Stored | None:
        """Return the credential of a slot, or None; raises `SecretRefused` where it does not open there."""
        row = self.look(slot)
        while row is not None:
            try:
                return _opened(row, self._keychain.in_use())
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
        kept = self._rows.meta(DIGESTS_FACT)
        if kept is None:
            self._keychain.in_use_or_new()
            with self._keychain.locked():
                kept = self._rows.settle_meta(DIGESTS_FACT, fresh_wrapped(self._keychain.in_use()))
        while True:
            try:
                return unwrapped(kept, self._keychain.in_use())
            except VaultKeyProblem:
                again = self._rows.meta(DIGESTS_FACT)
                if again is None or again == kept:
                    raise
                kept = again

    def rotate(self) -> int:
        """Encrypt every secret under a new key; returns how many there are.

        The new key is on disk before anything is encrypted under it, and takes the old one's place after the
        one transaction that changes the rows: killed anywhere, the key that fits is found at the next start.
        Where the key is lost and no secret is left under it, this begins anew, with a new key of digests.
        """
        with self._keychain.locked():
            try:
                found = self._keychain.with_place()
            except VaultKeyMissing:
                if self._rows.list():
                    raise
                found = None
            if found is None:
                self._keychain.make()
                return 0
            old, place = found
            place.switch(old)
            digests = self._rows.settle_meta(DIGESTS_FACT, fresh_wrapped(old))
            new = fresh_key()
            place.stage(new)
            if new not in place.found():
                raise VaultKeyProblem(f"{place.name} did not keep the new key; nothing was changed")
            facts = {KEY_FACT: new.id, DIGESTS_FACT: rewrapped(digests, old, new)}
            count = self._rows.renew(lambda row: self._resealed(row, old, new), facts)
            place.switch(new)
            return count

    def status(self) -> VaultStatus:
        """Say how the vault stands; nothing is made, changed or decrypted."""
        fact = self._rows.meta(KEY_FACT)
        secrets = len(self._rows.list())
        key_id = None if fact is None else fact.hex()
        try:
            found = self._keychain.with_place()
            if found is None:
                return VaultStatus(secrets, key_id, None, None, rotating=False)
            key, place = found
            rotating = any(other.id != key.id for other in place.found())
        except VaultKeyProblem as problem:
            return VaultStatus(secrets, key_id, None, str(problem), rotating=False)
        return VaultStatus(secrets, key_id, place.name, None, rotating=rotating)

    def _sealed(self, slot: Slot, stored: Stored, key: MasterKey) -> SecretRow:
        from .cipher import sealed

        nonce, ciphertext = sealed(key.derived(_ROWS), msgspec.json.encode(stored), slot.associated())
        meta: dict[str, object] = {"id": stored.id, "kind": stored.kind, "expires_at": stored.expires_at}
        return SecretRow(slot.tenant, slot.principal, slot.pack_id, slot.family, nonce, ciphertext, meta, self._now())

    def _resealed(self, row: SecretRow, old: MasterKey, new: MasterKey) -> SecretRow:
        sealed = self._sealed(_slot(row), _opened(row, old), new)
        return msgspec.structs.replace(row, nonce=sealed.nonce, ciphertext=sealed.ciphertext)


def ends_at(row: SecretRow) -> float | None:
    """Return when the credential of a row ends, in Unix seconds, or None."""
    end = row.meta.get("expires_at")
    return end if isinstance(end, (int, float)) else None


def _slot(row: SecretRow) -> Slot:
    return Slot(row.tenant, row.principal, row.pack_id, row.family)


def _opened(row: SecretRow, key: MasterKey) -> Stored:
    from .cipher import DoesNotOpen, opened

    associated = _slot(row).associated()
    try:
        return msgspec.json.decode(opened(key.derived(_ROWS), row.nonce, row.ciphertext, associated), type=Stored)
    except (DoesNotOpen, msgspec.DecodeError):
        raise SecretRefused(
            f"the stored secret of {row.pack_id} ({row.family}, {row.principal}) does not belong where it"
            f" lies, or was changed; run: hcpx connect {row.pack_id}"
        ) from None

"""What the store keeps, as the rooms see it that meet over it: audit, hub and packs never import the store.

All methods may raise `StoreUnavailable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from hcpx.vocabulary.policy import Overlay

from . import KeyUse

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Protocol
else:
    Protocol = object  # as for the other ports


class Changes(Protocol):
    """The store's change counter, which keeps caches honest."""

    def changes(self) -> int:
        """Return how many changes the owner has made: what was read at the same number still holds."""
        ...


class Transactions(Protocol):
    """Transactions of the calling thread; they do not nest."""

    def writing(self, *, durable: bool) -> AbstractContextManager[None]:
        """Be the only writer for the length of a block: all or nothing, and a raised exception means nothing.

        A `durable` one is on disk when the block has ended; the other survives the end of this process only. What
        is returned may be entered again and again, by any thread.
        """
        ...

    def rest(self) -> None:
        """Do the housekeeping that is due; called when a call is over, never before its adapter."""
        ...


class ChainHead(msgspec.Struct, frozen=True):
    """Where a chain ends: the number of its last record (0 before the first) and that record's hash."""

    seq: int
    hash: bytes


class ChainedRecord(msgspec.Struct, frozen=True):
    """One link as it is stored: `text` is the exact JSON, `hash` its SHA-256, `seq` its place (from 1)."""

    seq: int
    hash: bytes
    text: bytes
    audit_id: str
    at: str


class ChainRows(Protocol):
    """The growing end of the chains."""

    def head(self, tenant: str) -> ChainHead | None:
        """Return where the tenant's chain ends, or None where it has not begun."""
        ...

    def append(self, tenant: str, link: ChainedRecord) -> None:
        """Store the next link; only inside a write transaction that has read the head."""
        ...


class ChainReader(Protocol):
    """The chains as readers see them: each walk is one snapshot, whatever is written meanwhile."""

    def tenants(self) -> Sequence[str]:
        """Return every tenant that has a chain."""
        ...

    def forward(
        self, tenant: str, last: int | None = None
    ) -> AbstractContextManager[tuple[ChainHead, Iterator[ChainedRecord]]]:
        """Walk a chain, or its `last` records, to its end, with the head that the store keeps beside it."""
        ...

    def backward(
        self, tenant: str, since: str | None = None, until: str | None = None
    ) -> AbstractContextManager[Iterator[ChainedRecord]]:
        """Walk a chain from its newest record back; `since` and `until` bound `at`, both included."""
        ...

    def of_call(self, audit_id: str) -> Sequence[tuple[str, ChainedRecord]]:
        """Return (tenant, record) of every record of one call, oldest first."""
        ...


class OpenIntent(msgspec.Struct, frozen=True):
    """An intent whose outcome is not recorded; `holder` names the process that wrote it."""

    tenant: str
    audit_id: str
    holder: str


class IntentRows(Protocol):
    """The intents that wait for their outcome."""

    def open(self, intent: OpenIntent) -> None:
        """Note an intent."""
        ...

    def close(self, audit_id: str) -> None:
        """Forget an intent: its outcome is recorded."""
        ...

    def waiting(self) -> Sequence[OpenIntent]:
        """Return the intents without an outcome, oldest first."""
        ...


class HeldKey(msgspec.Struct, frozen=True):
    """An idempotency key in the store, reserved at `at` (Unix seconds) by the call `audit_id` of `holder`.

    `result` is None until that call has ended.
    """

    digest: str
    audit_id: str
    holder: str
    at: float
    result: bytes | None = None


class KeyRows(Protocol):
    """Idempotency keys."""

    def find(self, use: KeyUse) -> HeldKey | None:
        """Return who holds the key, or None; whether that still counts is for the caller to say."""
        ...

    def reserve(self, use: KeyUse, key: HeldKey) -> None:
        """Hold the key, in the place of whoever held it, and drop a few that were reserved long ago."""
        ...

    def finish(self, use: KeyUse, audit_id: str, result: bytes | None) -> None:
        """Keep the result under the key of that call; None makes it free again. Another call's key stays."""
        ...


class StrangerRows(Protocol):
    """How many calls without a live session were recorded lately."""

    def recorded(self) -> tuple[float, int]:
        """Return since when (Unix seconds), and how many."""
        ...

    def count(self, since: float, recorded: int) -> None:
        """Write both; only inside a write transaction."""
        ...


class ApprovalUses(Protocol):
    """Using approvals up."""

    def use(self, approval_ids: Sequence[str], audit_id: str, now: float) -> bool:
        """Use up all of them for this call, or none and return False: each must be live and approved."""
        ...

    def give_back(self, audit_id: str) -> None:
        """Make what this call used pending again."""
        ...


class SecretRow(msgspec.Struct, frozen=True):
    """One secret at rest (Spec 03, the vault): what is secret in it is in `ciphertext` only.

    `meta` is JSON that may be shown: scopes, an expiry, a credential's id. `updated_at` is Unix seconds.
    """

    tenant: str
    principal: str
    pack_id: str
    family: str
    nonce: bytes
    ciphertext: bytes
    meta: dict[str, object] = {}
    updated_at: float = 0

    def __repr__(self) -> str:
        """Name whose secret it is and nothing of its content."""
        return f"SecretRow({self.tenant!r}, {self.principal!r}, {self.pack_id!r}, {self.family!r})"


class SecretRows(Protocol):
    """The vault's rows and the few facts about its key (`meta`); every change is durable when it returns."""

    def get(self, tenant: str, principal: str, pack_id: str, family: str) -> SecretRow | None:
        """Return the row of exactly these four, or None."""
        ...

    def list(self, tenant: str | None = None) -> Sequence[SecretRow]:
        """Return the rows of a tenant, or all of them, in the order of their names."""
        ...

    def put(self, row: SecretRow, *, under: tuple[str, bytes] | None = None) -> bool:
        """Write the row in the place of an older one.

        With `under`, only while the vault fact of that name still has that value (so that nothing is written
        under a key that was rotated away); False means that it had not, and nothing was written.
        """
        ...

    def delete(self, tenant: str, principal: str, pack_id: str, family: str) -> bool:
        """Forget the row; False where there was none."""
        ...

    def meta(self, name: str) -> bytes | None:
        """Return a fact about the vault."""
        ...

    def settle_meta(self, name: str, value: bytes) -> bytes:
        """Write a fact where there is none yet, and return the one that holds: of two at once, one wins."""
        ...

    def renew(self, change: Callable[[SecretRow], SecretRow], meta: Mapping[str, bytes]) -> int:
        """Replace every row by what `change` makes of it, and the facts by `meta`, in one transaction.

        Returns how many rows there are; where `change` raises, nothing has changed.
        """
        ...


# --- Packs: what the catalog keeps in the store -------------------------------------------------------------


class PackRow(msgspec.Struct, frozen=True):
    """The pack that is installed in a tenant under an id.

    `root` is a linked pack's folder, else the name of the folder in the store that holds its files. `compiled` is
    the `Pack` as JSON, `installed_at` Unix seconds.
    """

    tenant: str
    pack_id: str
    version: str
    title: str
    digest: str
    root: str
    linked: bool
    compiled: bytes
    installed_at: float


class PackRows(Protocol):
    """Installed packs: at most one for each tenant and id."""

    def find(self, tenant: str, pack_id: str) -> PackRow | None:
        """Return the row of exactly this tenant and id, or None."""
        ...

    def list(self, tenant: str) -> Sequence[PackRow]:
        """Return the tenant's rows, in the order of their ids."""
        ...

    def put(self, row: PackRow, *, replace: bool) -> bool:
        """Write the row; False, with nothing written, where another digest or root is there and not `replace`."""
        ...

    def remove(self, tenant: str, pack_id: str) -> PackRow | None:
        """Forget the row and return it, or None where there was none."""
        ...

    def roots(self) -> Sequence[str]:
        """Return the `root` of every row of every tenant that is not linked."""
        ...


class OverlayRows(Protocol):
    """What operators laid over Policy rows."""

    def find(self, tenant: str, pack_id: str, verb_key: str) -> Overlay | None:
        """Return the overlay on exactly that row, or None."""
        ...

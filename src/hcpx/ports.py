"""The ports: small protocols between the pipeline and the world.

An implementation may raise `StoreUnavailable` from any port that reads or writes the store, and
`AuditUnavailable` from `Journal`; everything else that it wants to say is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from .vocabulary.approval import Approval, Ask
from .vocabulary.binding import Binding, MintRequest
from .vocabulary.capability import Grant
from .vocabulary.denial import Denial
from .vocabulary.envelope import Payload
from .vocabulary.invocation import Cancel, Enforced, Invocation, OnOutput, OpenDirectory, Program, Ran, Target
from .vocabulary.pack import Pack
from .vocabulary.policy import Overlay
from .vocabulary.principal import Session
from .vocabulary.record import AuditRecord
from .vocabulary.result import Result
from .vocabulary.signal import Signal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Protocol
else:
    Protocol = object  # only a type checker asks; making the real ones is a millisecond of every start


class StoreUnavailable(Exception):
    """The store cannot be read or written; the message names the file and the way out."""


class AuditUnavailable(Exception):
    """A record cannot be made durable; the message names the file and the way out."""


class Credential(msgspec.Struct, frozen=True):
    """What a face presents for a session: a token, or the owner's own right to this store (token None).

    `cwd` is the caller's directory: it selects the project of the owner's own session (Spec 01 section 1).
    """

    token: str | None
    cwd: str | None = None

    def __repr__(self) -> str:
        """Tell the kind of credential and nothing of the token."""
        return f"Credential({'owner' if self.token is None else 'token'})"


class Call(msgspec.Struct, frozen=True):
    """One knock at the gate, as a face hands it over.

    `face` is `human`, `api` or `ui`. A composite's step carries the `session` that is live already, the
    `parent` audit id and its `depth`; no face sets those.
    """

    payload: Payload
    credential: Credential
    face: str = "human"
    cancel: Cancel = msgspec.field(default_factory=Cancel)
    on_output: OnOutput | None = None
    native_local: bool = False
    session: Session | None = None
    parent: str | None = None
    depth: int = 0


class Clock(Protocol):
    """Time and fresh ids."""

    def now(self) -> float:
        """Return the time as Unix seconds."""
        ...

    def elapsed(self) -> float:
        """Return monotonic seconds."""
        ...

    def new_id(self, kind: str) -> str:
        """Return a fresh id that begins with `kind` and sorts by time."""
        ...


class Sessions(Protocol):
    """Who is calling."""

    def live(self, credential: Credential) -> Session | None:
        """Return the session where it is live, else None.

        Live: known, not expired, not revoked, principal and actor enabled.
        """
        ...

    def again(self, session: Session) -> Session | None:
        """Return a session that was live before as it is now, or None: a composite's step may come late."""
        ...


class PackCatalog(Protocol):
    """The packs of a tenant and what operators laid over their rows."""

    def find(self, tenant: str, pack_id: str) -> Pack | None:
        """Return the installed pack of exactly that id, or None.

        A linked pack is read from its folder as it is now.
        """
        ...

    def overlay(self, tenant: str, pack_id: str, verb_key: str) -> Overlay | None:
        """Return the tenant's overlay on that row, or None."""
        ...


class Grants(Protocol):
    """Rights of principals."""

    def naming(self, tenant: str, principal: str, capability: str, pack_id: str) -> Sequence[Grant]:
        """Return the grants of an enabled principal for that capability whose pack is that one or `*`."""
        ...


class Directories(Protocol):
    """Opens the caller's working directory."""

    def open(self, path: str) -> OpenDirectory:
        """Open a directory, no symlink followed on its last part; where that fails, the value says why."""
        ...


class Approvals(Protocol):
    """Requests for another person's word."""

    def waiting(self, ask: Ask) -> Approval | None:
        """Return the request of this digest that is pending or denied and has not expired, or None."""
        ...

    def request(self, ask: Ask) -> Approval:
        """Return the pending request of this digest, made now where there is none."""
        ...


class KeyUse(msgspec.Struct, frozen=True):
    """An idempotency key of a write, with the digest of the call that it stands for."""

    tenant: str
    principal: str
    key: str
    digest: str


class Replay(msgspec.Struct, frozen=True):
    """What an earlier call under the same key came to: its Result as JSON."""

    result: bytes


class Journal(Protocol):
    """The audit and what must be in one transaction with it."""

    def recall(self, use: KeyUse) -> Replay | Denial | None:
        """Look a key up, None where it is free.

        Else the recorded result, or `idempotency_conflict`, `busy` or `outcome_unknown`.
        """
        ...

    def intend(self, intent: AuditRecord, approval_ids: tuple[str, ...], use: KeyUse | None) -> Denial | None:
        """Make the intent durable, use up the approvals and reserve the key, all or nothing.

        Denies with `approval_required` or `busy` where another call was faster. Raises `AuditUnavailable`.
        """
        ...

    def settle(
        self, record: AuditRecord, *, started: bool, use: KeyUse | None = None, result: bytes | None = None
    ) -> None:
        """Write the record that ends a call: an `outcome` after its intent, else an `entry`.

        Where nothing was `started`, the intent's approvals are given back and its key is free again; else
        `result` is kept under the key. An outcome is durable when this returns. Raises `AuditUnavailable`.
        """
        ...


class Seal(Protocol):
    """Keyed digests, so that short contents cannot be guessed back (Spec 06 section 2)."""

    def digest(self, content: bytes) -> str:
        """Return the HMAC of the content as text."""
        ...


class BindingHub(Protocol):
    """Mints Bindings (Spec 03)."""

    def mint(self, request: MintRequest) -> Binding | Denial:
        """Mint for this principal, pack and family, or say why not; never from anything ambient."""
        ...

    def state(self, request: MintRequest) -> Denial | None:
        """Say, without minting, what `mint` would be denied with as far as is known here."""
        ...


class Redactor(Protocol):
    """Hides the secrets of one call (Spec 03)."""

    slack: int
    """How many bytes beyond a cap must be kept so that a secret across the cap is still found."""

    def output(self, data: bytes) -> bytes:
        """Redact what a program printed: a JSON text still parses, other bytes stay as they are."""
        ...

    def text(self, text: str) -> str:
        """Redact a text."""
        ...

    def value(self, value: object, replace: Callable[[str], str] | None = None) -> object:
        """Redact a JSON value in keys and values; `replace` makes the text that stands for a hidden one."""
        ...

    def stream(self) -> RedactedStream:
        """Return a filter for live output."""
        ...


class RedactedStream(Protocol):
    """A filter that holds back what may be the beginning of a secret."""

    def feed(self, data: bytes) -> bytes:
        """Take what was read, return what can be shown."""
        ...

    def finish(self) -> bytes:
        """Return the rest."""
        ...


class Redaction(Protocol):
    """Makes redactors."""

    def of(self, binding: Binding) -> Redactor:
        """Return the redactor for the secrets of this Binding."""
        ...


class Adapter(Protocol):
    """How a command of one kind runs."""

    def inspect(self, target: Target) -> Program | Denial:
        """Say, without starting anything, what would be started, or what step 6 would deny with."""
        ...

    def foreseen(self, target: Target) -> Enforced | None:
        """Say what would hold for a program of this command; None where none is started here or none can be."""
        ...

    def can_mock(self, target: Target) -> bool:
        """Tell whether a mock run without a fixture can be held to its promise here."""
        ...

    def run(self, invocation: Invocation) -> Ran | Denial:
        """Run it. A Denial means that nothing was started; what started and failed is a `Ran`."""
        ...


class Gate(Protocol):
    """The pipeline as composites and availability see it."""

    def execute(self, call: Call) -> Result:
        """Send an envelope through all seven steps."""
        ...

    def rehearse(self, call: Call) -> Denial | None:
        """Walk steps 1 to 4 without asking anybody or recording anything, and return the denial, if any."""
        ...


class Brain(Protocol):
    """Keeps results under a project (Spec 06 section 5)."""

    def keep(self, session: Session, audit_id: str, pack_id: str, verb_key: str, result: bytes) -> str | None:
        """Keep a result; returns None, or why it could not be kept."""
        ...


class SenseSink(Protocol):
    """Takes signals."""

    def emit(self, signal: Signal) -> None:
        """Keep and pass on a signal; never raises."""
        ...


class Log(Protocol):
    """Where traces go that no caller may see."""

    def trouble(self, trouble_id: str, error: BaseException) -> None:
        """Write the trace of a bug under that id, secrets left out; never raises."""
        ...


class Ports(msgspec.Struct, frozen=True):
    """All that the pipeline may reach."""

    clock: Clock
    sessions: Sessions
    packs: PackCatalog
    grants: Grants
    directories: Directories
    approvals: Approvals
    journal: Journal
    seal: Seal
    hub: BindingHub
    redaction: Redaction
    adapters: Mapping[str, Adapter]
    brain: Brain
    log: Log


# --- The store's rows, where two rooms meet over them -------------------------------------------------------
# All methods below may raise `StoreUnavailable`.


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
# All methods below may raise `StoreUnavailable`.


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

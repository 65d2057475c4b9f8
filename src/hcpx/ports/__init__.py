"""The ports: small protocols between the pipeline and the world.

An implementation may raise `StoreUnavailable` from any port that reads or writes the store, and
`AuditUnavailable` from `Journal`; everything else that it wants to say is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from hcpx.vocabulary.approval import Approval, Ask
from hcpx.vocabulary.binding import Binding, MintRequest
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.envelope import Payload
from hcpx.vocabulary.invocation import Cancel, Enforced, Invocation, OnOutput, OpenDirectory, Program, Ran, Target
from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.policy import Overlay
from hcpx.vocabulary.principal import Session
from hcpx.vocabulary.record import AuditRecord
from hcpx.vocabulary.result import Result
from hcpx.vocabulary.signal import Signal

if TYPE_CHECKING:
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
        """Walk steps 1 to 4, asking for a missing approval and recording nothing; return the denial, if any."""
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

"""One store with everything that works on it, and a clock that tests turn."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from hcpx.audit.journal import ChainedJournal, JournalRows
from hcpx.audit.process import Processes
from hcpx.audit.views import AuditViews
from hcpx.ports import Credential, KeyUse
from hcpx.store.approvals import ApprovalRows
from hcpx.store.brain import BrainRows
from hcpx.store.chains import Chains, Intents
from hcpx.store.create import create
from hcpx.store.database import Database
from hcpx.store.grant_rows import GrantRows
from hcpx.store.grants import LiveGrants
from hcpx.store.host_rows import AllowList, SettingRows
from hcpx.store.idempotency import Keys
from hcpx.store.overlays import Overlays
from hcpx.store.packs import PackRows
from hcpx.store.principals import Principals
from hcpx.store.projects import Projects
from hcpx.store.session_rows import NewSession, SessionRows
from hcpx.store.sessions import LiveSessions
from hcpx.store.signals import SignalRows
from hcpx.store.strangers import Strangers
from hcpx.store.vault_rows import VaultRows
from hcpx.vocabulary.approval import Ask
from hcpx.vocabulary.record import SYSTEM, Attribution, AuditRecord, Decision, Outcome, RecordKind

ADA = "user:ada"
TENANT = "acme"
START = 1_700_000_000.0


class TurnedClock:
    """A clock that stands still until it is turned, and numbers its ids."""

    def __init__(self, at: float = START) -> None:
        self.at = at
        self._ids = count(1)

    def now(self) -> float:
        return self.at

    def elapsed(self) -> float:
        return self.at

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids):08d}"

    def turn(self, seconds: float) -> None:
        self.at += seconds


class World:
    """Everything that a runtime would put together over one database."""

    def __init__(self, database: Database, clock: TurnedClock) -> None:
        self.database = database
        self.clock = clock
        self.principals = Principals(database, clock)
        self.projects = Projects(database, clock)
        self.sessions = SessionRows(database, clock)
        self.live = LiveSessions(database, clock)
        self.grants = GrantRows(database, clock)
        self.live_grants = LiveGrants(database)
        self.packs = PackRows(database)
        self.overlays = Overlays(database, clock)
        self.allowed = AllowList(database, clock)
        self.settings = SettingRows(database)
        self.vault = VaultRows(database)
        self.approvals = ApprovalRows(database, clock)
        self.keys = Keys(database)
        self.chains = Chains(database)
        self.intents = Intents(database)
        self.brain = BrainRows(database, clock, quota=1000)
        self.signals = SignalRows(database)
        self.processes = Processes()
        self.journal = ChainedJournal(
            JournalRows(database, self.chains, self.intents, self.keys, self.approvals, Strangers(database)),
            clock,
            self.processes,
        )
        self.views = AuditViews(self.chains, self.intents, self.processes)

    def token(self, asked: NewSession | None = None) -> str:
        """The token of a new session."""
        return self.sessions.new(asked or NewSession(TENANT, ADA))[0]


def made(home: Path, clock: TurnedClock) -> World:
    """A world in a new store."""
    create(str(home), TENANT, ADA, clock)
    return World(Database.open(str(home)), clock)


def again(world: World) -> World:
    """The same store as another process would open it, with the same clock."""
    return World(Database.open(str(Path(world.database.path).parent)), world.clock)


OWNER = Credential(None)


def attribution(
    *, at: str = "2026-12-01T08:00:00.000Z", session: str | None = "s_1", operation: str = "read"
) -> Attribution:
    """Whose call it was."""
    return Attribution(
        at=at,
        tenant=TENANT if session else SYSTEM,
        principal=ADA if session else None,
        actor=None,
        invoker="human",
        session=session,
        project=None,
        pack_id="ledger",
        pack_digest="sha256:aa",
        verb_key="balance",
        operation=operation,
        binding_family="public",
        credential_id=None,
        request_id=None,
        envelope_digest="hmac:bb",
    )


def record(
    audit_id: str,
    kind: RecordKind = "entry",
    *,
    whose: Attribution | None = None,
    decision: Decision | None = "allowed",
    outcome: Outcome | None = None,
    code: str | None = None,
    args: object = None,
) -> AuditRecord:
    """A record as step 7 would make it."""
    return AuditRecord(audit_id, kind, whose or attribution(), decision, outcome, code, args=args)


def intent(audit_id: str) -> AuditRecord:
    """An intent of a write."""
    return record(audit_id, "intent", whose=attribution(operation="write"), decision=None)


def outcome(audit_id: str) -> AuditRecord:
    """The outcome of a write that went well."""
    return record(audit_id, "outcome", whose=attribution(operation="write"), outcome="ok")


def use(key: str = "k", digest: str = "d") -> KeyUse:
    """A use of an idempotency key."""
    return KeyUse(TENANT, ADA, key, digest)


def ask(digest: str = "digest-1", needed: int = 1, actor: str | None = None) -> Ask:
    """A request for approvals."""
    return Ask(TENANT, ADA, actor, "ledger", "transfer", digest, needed, {"argv": ["transfer", "5"]})

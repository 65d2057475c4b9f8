"""The composition root: the only place where concrete classes meet ports."""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping

from hcpx.audit.journal import ChainedJournal, JournalRows
from hcpx.audit.process import Processes
from hcpx.hub.hub import Hub
from hcpx.hub.keychain import Keychain
from hcpx.hub.minters.vault_secret import VaultSecret
from hcpx.hub.minting import Minter
from hcpx.hub.redaction import SecretRedaction
from hcpx.hub.seal import DigestSeal
from hcpx.hub.vault import Vault
from hcpx.packs.bootstrap.pack import bootstrap_pack
from hcpx.packs.catalog import Catalog
from hcpx.packs.shelf import Shelf
from hcpx.ports import Adapter, Ports
from hcpx.settings import DEFAULT_SANDBOX, SandboxMode, Settings
from hcpx.store.approvals import ApprovalRows
from hcpx.store.brain import BrainRows
from hcpx.store.chains import Chains, Intents
from hcpx.store.database import Database
from hcpx.store.grants import LiveGrants
from hcpx.store.host_rows import AllowList, SettingRows
from hcpx.store.idempotency import Keys
from hcpx.store.overlays import Overlays
from hcpx.store.packs import PackRows
from hcpx.store.sessions import LiveSessions
from hcpx.store.strangers import Strangers
from hcpx.store.vault_rows import VaultRows
from hcpx.vocabulary.invocation import OpenDirectory
from hcpx.vocabulary.version import VERSION

from .clock import SystemClock
from .gate import PipelineGate
from .trouble_log import TroubleLog, trouble_path


class Adapters(dict[str, Adapter]):
    """The adapters by kind, each made when a command of its kind is first met."""

    def __init__(self, make: Mapping[str, Callable[[], Adapter]]) -> None:
        super().__init__()
        self._make = make
        self._making = allocate_lock()

    def __missing__(self, kind: str) -> Adapter:
        with self._making:  # two of them would each let as many calls through as a row allows at once
            if kind not in self:
                self[kind] = self._make[kind]()
        return self[kind]


class Parts:
    """Every part of one open store; what a call does not need is not made.

    `lasting` says that calls may come in bursts: their records then share commits (Spec 06 section 2).
    """

    def __init__(self, settings: Settings, database: Database, *, lasting: bool = False) -> None:
        self.settings = settings
        self.database = database
        self.state = os.path.join(settings.home, "state")
        self.clock = SystemClock()
        self.processes = Processes()
        self.redaction = SecretRedaction()
        self.chains = Chains(database)
        self.intents = Intents(database)
        self.approvals = ApprovalRows(database, self.clock)
        self.pack_rows = PackRows(database)
        self.overlays = Overlays(database, self.clock)
        self.allow_list = AllowList(database, self.clock)
        self.shelf = Shelf(os.path.join(settings.home, "packs"))
        self.vault = self._vault(VaultRows(database))
        self.catalog = Catalog(self.pack_rows, self.overlays, self.shelf, lambda: bootstrap_pack(VERSION))
        self.sessions = LiveSessions(database, self.clock)
        self.grants = LiveGrants(database)
        self.adapters = Adapters(
            {
                "wrap": self._wrap,
                "composite": self._composite,
                "openapi": lambda: self._missing("openapi"),
                "sense_only": lambda: self._missing("sense_only"),
                "mcp": lambda: self._missing("mcp"),
            }
        )
        self.journal = self._journal(shares=lasting)
        self.ports = Ports(
            clock=self.clock,
            sessions=self.sessions,
            packs=self.catalog,
            grants=self.grants,
            directories=_Directories(),
            approvals=self.approvals,
            journal=self.journal,
            seal=DigestSeal(self.vault),
            hub=Hub(self.vault, self._minters(), self.clock.now),
            redaction=self.redaction,
            adapters=self.adapters,
            brain=BrainRows(database, self.clock),
            log=TroubleLog(trouble_path(settings)),
        )
        self.gate = PipelineGate(self.ports, database)
        self._at_close: list[Callable[[], None]] = []

    def close(self) -> None:
        """Write what waits, give back what adapters keep ready, close the store. Raises `AuditUnavailable`."""
        try:
            self.journal.flush()
        finally:
            for close in self._at_close:
                close()
            self.database.close()

    @property
    def sandbox_mode(self) -> SandboxMode:
        """The operator's choice of `hcpx config set sandbox`, else the declared default."""
        chosen = SettingRows(self.database).all().get("sandbox", DEFAULT_SANDBOX)
        return "native-local" if chosen == "native-local" else "sandbox"

    def _vault(self, rows: VaultRows) -> Vault:
        keychain = Keychain(rows, self.settings.home, self.settings.vault_key_file)
        return Vault(rows, keychain, self.clock.now)

    def _minters(self) -> Mapping[str, Minter]:
        minter: Minter = VaultSecret()
        return {minter.kind: minter}

    def _journal(self, *, shares: bool) -> ChainedJournal:
        rows = JournalRows(
            transactions=self.database,
            chains=self.chains,
            intents=self.intents,
            keys=Keys(self.database),
            approvals=self.approvals,
            strangers=Strangers(self.database),
        )
        return ChainedJournal(rows, self.clock, self.processes, shares=shares)

    def _wrap(self) -> Adapter:
        from hcpx.adapters.assembly import wrapped

        adapter = wrapped(
            state=self.state,
            mode=self.sandbox_mode,
            search_path=self.settings.path,
            variables=self.settings.locale,
            allowed=self.allow_list.real_path,
            redaction=self.redaction,
        )
        self._at_close.append(adapter.close)
        return adapter

    def _composite(self) -> Adapter:
        from hcpx.adapters.composite import Composite
        from hcpx.packs.bootstrap.handlers import handlers

        from .desk import RuntimeDesk
        from .packaged import packaged_handlers

        return Composite(self.gate, self.redaction, packaged_handlers(handlers(RuntimeDesk(self))))

    def _missing(self, kind: str) -> Adapter:
        from hcpx.adapters.missing import Missing

        return Missing(kind)


class _Directories:
    """Opens a project's directory; the sandbox is loaded only where one is asked for."""

    def open(self, path: str) -> OpenDirectory:
        from hcpx.adapters.assembly import directories

        return directories().open(path)

"""Small in-memory ports: a world whose every corner a test can see."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from hcpx.pipeline.execute import execute
from hcpx.pipeline.outlook import rehearse
from hcpx.ports import AuditUnavailable, Call, Credential, KeyUse, Ports, Replay, StoreUnavailable
from hcpx.vocabulary.approval import Approval, Ask, Decision
from hcpx.vocabulary.binding import Binding, MintRequest
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Enforced, Invocation, Program, Ran, Target
from hcpx.vocabulary.pack import BindingSpec, Command, Pack, Wrap
from hcpx.vocabulary.policy import Overlay, PolicyRow
from hcpx.vocabulary.principal import Project, Session
from hcpx.vocabulary.record import AuditRecord
from hcpx.vocabulary.result import Result

NOW = 1_800_000_000.0
HELD = Enforced("bubblewrap", "none", (), {"timeout_s": 60})


class Clock:
    def __init__(self) -> None:
        self.time = NOW
        self.ids = itertools.count(1)

    def now(self) -> float:
        return self.time

    def elapsed(self) -> float:
        return 0.0

    def new_id(self, kind: str) -> str:
        return f"{kind}_{next(self.ids)}"


class Directory:
    def __init__(self, path: str) -> None:
        self.path, self.fd, self.problem, self.closed = path, 7, None, 0

    def close(self) -> None:
        self.closed += 1


class Directories:
    def __init__(self) -> None:
        self.opened: list[Directory] = []

    def open(self, path: str) -> Directory:
        self.opened.append(Directory(path))
        return self.opened[-1]


class Journal:
    """Keeps records in order; can be told to fail, and keeps what an idempotency key stands for."""

    def __init__(self, approvals: Approvals) -> None:
        self.records: list[AuditRecord] = []
        self.approvals = approvals
        self.keys: dict[tuple[str, str, str], tuple[str, bytes | None]] = {}
        self.fail_intent = self.fail_settle = False

    def recall(self, use: KeyUse) -> Replay | Denial | None:
        known = self.keys.get((use.tenant, use.principal, use.key))
        if known is None:
            return None
        digest, result = known
        if digest != use.digest:
            return deny("idempotency_conflict")
        return deny("busy", step=4, limit="the same idempotency_key is running") if result is None else Replay(result)

    def intend(self, intent: AuditRecord, approval_ids: tuple[str, ...], use: KeyUse | None) -> Denial | None:
        if self.fail_intent:
            raise AuditUnavailable("the disk is full")
        if not self.approvals.use(approval_ids):
            return deny("approval_required", approval_id="-")
        if use is not None:
            self.keys[use.tenant, use.principal, use.key] = (use.digest, None)
        self.records.append(intent)
        return None

    def settle(
        self, record: AuditRecord, *, started: bool, use: KeyUse | None = None, result: bytes | None = None
    ) -> None:
        if self.fail_settle:
            raise AuditUnavailable("the disk is full")
        if not started and record.kind == "outcome":
            intent = next(r for r in self.records if r.audit_id == record.audit_id)
            self.approvals.give_back(intent.approval_ids)
        if use is not None:
            place = (use.tenant, use.principal, use.key)
            if started:
                self.keys[place] = (use.digest, result)
            else:
                del self.keys[place]
        self.records.append(record)


class Approvals:
    def __init__(self) -> None:
        self.all: list[Approval] = []
        self.clock = Clock()

    def waiting(self, ask: Ask) -> Approval | None:
        live = (a for a in self.all if a.ask.digest == ask.digest and a.state in ("pending", "denied"))
        return next(live, None)

    def request(self, ask: Ask) -> Approval:
        found = self.waiting(ask)
        if found is None:
            found = Approval(f"p_{len(self.all) + 1}", ask, NOW, NOW + 600, "pending")
            self.all.append(found)
        return found

    def decide(self, approval_id: str, decision: Decision) -> None:
        self._change(
            approval_id,
            lambda a: msgspec.structs.replace(
                a,
                decisions=(*a.decisions, decision),
                state="denied" if decision.verdict == "deny" else a.state,
            ),
        )

    def use(self, approval_ids: tuple[str, ...]) -> bool:
        if any(a.state != "pending" for a in self.all if a.id in approval_ids):
            return False
        for approval_id in approval_ids:
            self._change(approval_id, lambda a: msgspec.structs.replace(a, state="used"))
        return True

    def give_back(self, approval_ids: tuple[str, ...]) -> None:
        for approval_id in approval_ids:
            self._change(approval_id, lambda a: msgspec.structs.replace(a, state="pending"))

    def _change(self, approval_id: str, change: Callable[[Approval], Approval]) -> None:
        self.all = [change(a) if a.id == approval_id else a for a in self.all]


class Seal:
    def digest(self, content: bytes) -> str:
        return f"seal:{hashlib.sha256(content).hexdigest()}"


class Hub:
    """Mints what a test laid down; `bindings` maps (principal, pack, family) to a secret or a denial."""

    def __init__(self) -> None:
        self.bindings: dict[tuple[str, str, str], str | Denial] = {}
        self.minted: list[MintRequest] = []

    def mint(self, request: MintRequest) -> Binding | Denial:
        self.minted.append(request)
        if request.family == "mock":
            return Binding("mock", {name: f"mock-{name}" for name in request.env})
        found = self.bindings.get((request.principal, request.pack_id, request.family))
        if found is None:
            return deny("binding_missing", family=request.family, pack_id=request.pack_id)
        if isinstance(found, Denial):
            return found
        return Binding(request.family, dict.fromkeys(request.env, found), secrets=(found,), credential_id="c_1")

    def state(self, request: MintRequest) -> Denial | None:
        if (request.principal, request.pack_id, request.family) in self.bindings:
            return None
        return deny("binding_missing", family=request.family, pack_id=request.pack_id)


class PlainRedactor:
    slack = 0

    def __init__(self, secrets: Sequence[str]) -> None:
        self.secrets = secrets

    def output(self, data: bytes) -> bytes:
        return self.text(data.decode()).encode()

    def text(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "[redacted]")
        return text

    def value(self, value: Any, replace: Callable[[str], str] | None = None) -> Any:
        if isinstance(value, str):
            hidden = replace is not None and value in self.secrets
            return replace(value) if hidden and replace is not None else self.text(value)
        if isinstance(value, dict):
            return {self.text(k): self.value(v, replace) for k, v in value.items()}
        return [self.value(v, replace) for v in value] if isinstance(value, list) else value

    def stream(self) -> Any:
        raise NotImplementedError


class Redaction:
    def of(self, binding: Binding) -> PlainRedactor:
        return PlainRedactor(binding.secrets)


class Adapter:
    """Answers what it was told to and remembers each invocation."""

    def __init__(self, answer: Ran | Denial | BaseException | None = None, *, mocks: bool = True) -> None:
        self.answer = answer
        self.mocks = mocks
        self.blocked: Denial | None = None
        self.invocations: list[Invocation] = []

    def inspect(self, target: Target) -> Program | Denial:
        return self.blocked if self.blocked is not None else Program("/packs/bin/x", "sha256:1")

    def foreseen(self, target: Target) -> Enforced | None:
        return HELD

    def can_mock(self, target: Target) -> bool:
        return self.mocks

    def run(self, invocation: Invocation) -> Ran | Denial:
        self.invocations.append(invocation)
        if isinstance(self.answer, BaseException):
            raise self.answer
        if self.answer is not None:
            return self.answer
        return Ran(value={"argv": list(invocation.argv)}, exit_code=0, stdout="out", stderr="")


class Brain:
    def __init__(self) -> None:
        self.kept: list[tuple[str, str]] = []
        self.full: str | None = None

    def keep(self, session: Session, audit_id: str, pack_id: str, verb_key: str, result: bytes) -> str | None:
        if self.full is None:
            self.kept.append((pack_id, verb_key))
        return self.full


class Log:
    def __init__(self) -> None:
        self.troubles: dict[str, BaseException] = {}

    def trouble(self, trouble_id: str, error: BaseException) -> None:
        self.troubles[trouble_id] = error


class World:
    """One tenant with one live session, and every port of the pipeline at hand."""

    TOKEN = Credential("token")

    def __init__(self, *packs: Pack, **session: Any) -> None:
        self.packs = {pack.id: pack for pack in packs}
        given: dict[str, Any] = {
            "id": "s_1",
            "tenant": "acme",
            "principal": "user:ada",
            "activations": {pack.id: pack.digest for pack in packs},
        }
        self.session: Session | None = Session(**(given | session))
        self.grants: dict[str, list[Grant]] = {
            "user:ada": [Grant(c, "*", ("*",)) for c in ("verb.exec.read", "verb.exec.write", "pack.connect")]
        }
        self.overlays: dict[tuple[str, str], Overlay] = {}
        self.store_down = False
        self.clock = Clock()
        self.directories, self.approvals, self.hub = Directories(), Approvals(), Hub()
        self.journal, self.brain, self.log = Journal(self.approvals), Brain(), Log()
        self.adapter = Adapter()
        self.adapters: dict[str, Any] = dict.fromkeys(
            ("wrap", "composite", "openapi", "sense_only", "mcp"), self.adapter
        )
        self.ports = Ports(
            clock=self.clock,
            sessions=self,
            packs=self,
            grants=_Grants(self),
            directories=self.directories,
            approvals=self.approvals,
            journal=self.journal,
            seal=Seal(),
            hub=self.hub,
            redaction=Redaction(),
            adapters=self.adapters,
            brain=self.brain,
            log=self.log,
        )

    def live(self, credential: Credential) -> Session | None:
        if self.store_down:
            raise StoreUnavailable("/home/hcpx/store.db is locked: try again")
        return self.session if credential == self.TOKEN else None

    def again(self, session: Session) -> Session | None:
        return None if self.session is None else session

    def find(self, tenant: str, pack_id: str) -> Pack | None:
        return self.packs.get(pack_id) if tenant == "acme" else None

    def overlay(self, tenant: str, pack_id: str, verb_key: str) -> Overlay | None:
        return self.overlays.get((pack_id, verb_key))

    def execute(self, call: Call) -> Result:
        return execute(self.ports, call)

    def rehearse(self, call: Call) -> Denial | None:
        return rehearse(self.ports, call)

    def call(self, verb_key: str, args: Mapping[str, Any] | None = None, **fields: Any) -> Result:
        pack_id = fields.pop("pack_id", next(iter(self.packs), "none"))
        envelope = {"pack_id": pack_id, "verb_key": verb_key, "args": dict(args or {}), **fields}
        return execute(self.ports, Call(envelope, self.TOKEN))

    @property
    def ran(self) -> bool:
        return bool(self.adapter.invocations)

    @property
    def last(self) -> AuditRecord:
        return self.journal.records[-1]


class _Grants:
    def __init__(self, world: World) -> None:
        self.world = world

    def naming(self, tenant: str, principal: str, capability: str, pack_id: str) -> Sequence[Grant]:
        return self.world.grants.get(principal, ()) if tenant == "acme" else ()


def wrap_pack(policy: Mapping[str, PolicyRow], pack_id: str = "ledger", **fields: Any) -> Pack:
    """A wrap pack whose every command takes any args and renders `amount` behind its own name."""
    commands = {
        verb: Command(verb_key=verb, cli=(pack_id, verb, "{{amount}}"), **fields.pop(f"command_{verb}", {}))
        for verb in policy
    }
    given: dict[str, Any] = {
        "id": pack_id,
        "version": "1.0.0",
        "title": "A pack",
        "kind": "wrap",
        "digest": f"sha256:{pack_id}",
        "root": f"/packs/{pack_id}",
        "commands": commands,
        "policy": dict(policy),
        "wrap": Wrap(bin="bin/x"),
        "binding": BindingSpec(env={"TOKEN": "{{access_token}}"}),
    }
    return Pack(**(given | fields))


PROJECT = Project("p1", "/home/ada/p1")

"""A store of its own, packs around small programs, people with sessions, and both faces on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hcpx import Hcp
from hcpx.audit.views import Filter
from hcpx.runtime import Runtime
from hcpx.store.session_rows import NewSession
from hcpx.vocabulary.capability import Grant

SOURCE = Path(__file__).parents[2] / "src"
READ, WRITE = "verb.exec.read", "verb.exec.write"

# Prints what it was started with; where its directory may be written to, every start leaves a line there.
PROBE = """\
#!/usr/bin/env python3
import json, os, sys
try:
    with open("started", "a", encoding="utf-8") as file:
        file.write("x\\n")
except OSError:
    pass
seen = {"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}
seen["stdin"] = "tty" if os.isatty(0) else "data" if os.read(0, 1) else "eof"
print(json.dumps(seen))
"""

# Adds 1 to the counter of its private workspace.
TICK = """\
#!/bin/sh
echo x >>started
echo '{"ok":true}'
"""


class Answer(NamedTuple):
    """What a command line came to."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def body(self) -> Any:
        """The one JSON document on stdout; anything beside it is an error."""
        return json.loads(self.stdout)


class Site:
    """One store in `folder`, open for its owner."""

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self.folder = folder
        self.home = folder / "home" if home is None else home
        self.runtime = Runtime.open(home=str(self.home), create_missing=True, lasting=True)
        self.owner: Any = self.runtime.owner

    def write(self, pack_id: str, script: str | Mapping[str, str] = PROBE, **manifest: Any) -> Path:
        """Write a pack's folder; its program is `bin/run` unless `script` names the files."""
        place = self.folder / "packs" / pack_id
        for name, text in ({"bin/run": script} if isinstance(script, str) else script).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        (place / "pack.yaml").write_text(json.dumps(described(pack_id, **manifest)))
        return place

    def install(
        self,
        pack_id: str,
        script: str | Mapping[str, str] = PROBE,
        *,
        link: bool = False,
        replace: bool = False,
        **manifest: Any,
    ) -> Path:
        """Write, install and activate a pack for the owner."""
        place = self.write(pack_id, script, **manifest)
        added = self.owner.packs.add(str(place), link=link, replace=replace)
        assert added.pack.id == pack_id, added
        self.owner.packs.activate(pack_id)
        return place

    def refusal(self, place: Path) -> list[str]:
        """Install a folder that lint refuses, and return the messages of its errors."""
        refused = self.owner.packs.add(str(place))
        assert refused.denial.code == "lint_failed", refused
        return [str(finding) for finding in refused.findings if finding.severity == "error"]

    def person(
        self,
        principal: str,
        *grants: tuple[str, str, Sequence[str]],
        actor: str | None = None,
        tenant: str | None = None,
        project: str | None = None,
    ) -> str:
        """Make a session for somebody with these rights and the owner's activations; return its token."""
        whose: str = self.owner.tenant if tenant is None else tenant
        for capability, pack_id, verbs in grants:
            self.owner.grant(principal, Grant(capability, pack_id, tuple(verbs)), whose)
        held = dict(self.owner.sessions.owner().activations)
        token, _ = self.owner.sessions.new(NewSession(whose, principal, actor, project=project, activations=held))
        return token

    def hcp(self, token: str | None = None) -> Hcp:
        """The SDK in this process."""
        return Hcp(self.runtime, token)

    def call(self, pack_id: str, verb: str, args: Any = None, *, token: str | None = None, **more: Any) -> Any:
        """One call through the SDK."""
        return self.hcp(token).exec(pack_id, verb, args, **more)

    def environment(self, token: str | None = None, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command line: nothing of the tests' own but what Python needs."""
        path = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "HCP_HOME": str(self.home)}
        if token is not None:
            own["HCP_SESSION"] = token
        return {**own, **(env or {})}

    def cli(
        self,
        *words: str,
        token: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        **more: Any,
    ) -> Answer:
        """One command line in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "hcpx", *words],
            input=stdin,
            capture_output=True,
            env=self.environment(token, env),
            cwd=self.folder,
            timeout=120,
            check=False,
            **more,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def faces(self, envelope: str, token: str | None = None) -> dict[str, dict[str, Any]]:
        """The Results of one envelope through the SDK and the command line, by face."""
        sdk = json.loads(self.hcp(token).exec(envelope).to_json())
        cli = self.cli("exec", "-", "--json", token=token, stdin=envelope.encode("utf-8", "surrogatepass"))
        return {"sdk": sdk, "cli": cli.body}

    def started(self) -> int:
        """How many programs have left their line in a private workspace or a project of this site."""
        found = [*self.home.glob("state/workspaces/*/started"), *self.folder.glob("project/started")]
        return sum(len(path.read_text().splitlines()) for path in found)

    def audited(self, result: Any) -> Any:
        """The audit's entry of a call."""
        audit_id = result["audit_id"] if isinstance(result, dict) else result.audit_id
        return self.runtime.books.audit.show(audit_id)

    def records(self, **wanted: Any) -> Any:
        """The newest records of the owner's tenant."""
        return self.runtime.books.audit.list([self.owner.tenant], Filter(limit=None, **wanted))

    def exported(self) -> bytes:
        """Every line of every chain."""
        audit = self.runtime.books.audit
        return b"".join(line for tenant in self._tenants() for line in audit.export(tenant))

    def _tenants(self) -> list[str]:
        return [verdict.tenant for verdict in self.runtime.books.verify()]

    def holds(self) -> bool:
        """Whether every chain verifies."""
        return all(verdict.broken is None for verdict in self.runtime.books.verify())

    def close(self) -> None:
        self.runtime.close()


def described(pack_id: str, **manifest: Any) -> dict[str, Any]:
    """A manifest of kind wrap around `bin/run`; a command or row may be given short: its `cli`, its operation."""
    commands = manifest.pop("commands")
    wrap = {"bin": "bin/run", "workspace": {"mode": "workspace"}} | manifest.pop("wrap", {})
    policy = manifest.pop("policy", {})
    return {
        "hcp": 1,
        "id": pack_id,
        "version": "1.0.0",
        "title": f"The {pack_id}",
        "kind": "wrap",
        "wrap": wrap,
        "commands": {
            verb: {"summary": verb, "cli": cli} if isinstance(cli, list) else cli for verb, cli in commands.items()
        },
        "policy": {verb: policy.get(verb, {"operation": "read"}) for verb in commands},
        **manifest,
    }


def ledger(site: Site, script: str = PROBE, **manifest: Any) -> None:
    """The pack of the page: a read, a confirmed write, a user Binding."""
    transfer = ["ledger", "transfer", "{{amount}}", "--to", "{{payee}}", "--memo", "{{memo}}", "--confirm"]
    usual: dict[str, Any] = {
        "commands": {"balance": ["ledger", "balance"], "transfer": transfer},
        "policy": {"transfer": {"operation": "write", "confirm": True}},
    }
    site.install("ledger", script, **(usual | manifest))

"""A pack around a program, and what step 6 would hand to its adapter."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hcpx.adapters.assembly import directories, wrapped
from hcpx.adapters.lanes import Lanes
from hcpx.adapters.wrap import Choose, Wrapped
from hcpx.sandbox.environment import Environments
from hcpx.sandbox.programs import Programs
from hcpx.sandbox.workspace import Workspaces
from hcpx.vocabulary.binding import PUBLIC, Binding
from hcpx.vocabulary.envelope import Envelope
from hcpx.vocabulary.invocation import Cancel, Invocation, Target
from hcpx.vocabulary.pack import Command, Pack, WorkspaceMode, Wrap
from hcpx.vocabulary.policy import Limits, PolicyRow
from hcpx.vocabulary.principal import Session
from tests.adapters.redaction import OneSecretEach

if TYPE_CHECKING:
    from pathlib import Path

    from hcpx.vocabulary.invocation import OnOutput, OpenDirectory
    from hcpx.vocabulary.policy import Land

PATH = "/usr/local/bin:/usr/bin:/bin"
AMBIENT = {"LANG": "C.UTF-8", "SECRET_TOKEN": "canary-7", "FORCE_COLOR": "1", "PATH": "/ambient"}


class World:
    """A wrap pack `depot` whose program `tool` is a shell script, its adapter, and one session."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.state = self.root / "state"
        self.pack_root = self.root / "pack"
        self.pack_root.mkdir()
        self.state.mkdir()
        self.allowed: dict[str, str] = {}
        self.adapter = wrapped(
            state=str(self.state),
            mode="native-local",
            search_path=PATH,
            variables=AMBIENT,
            allowed=self.allowed.get,
            redaction=OneSecretEach(),
        )

    def adapter_of(self, choose: Choose) -> Wrapped:
        """The adapter with another choice of backends."""
        return Wrapped(
            choose=choose,
            workspaces=Workspaces(str(self.state)),
            programs=Programs(PATH, self.allowed.get),
            redaction=OneSecretEach(),
            environments=Environments(PATH, AMBIENT),
            lanes=Lanes(str(self.state)),
        )

    def program(self, script: str, name: str = "tool") -> None:
        """Write the pack's program."""
        path = self.pack_root / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o700)

    def invocation(
        self,
        *argv: str,
        bin: str = "./tool",  # noqa: A002 -- the manifest's own word
        agent_env: dict[str, str] | None = None,
        workspace: WorkspaceMode = "pack",
        limits: Limits | None = None,
        land: Land = "none",
        binding: Binding = PUBLIC,
        mock: bool = False,
        directory: OpenDirectory | None = None,
        cancel: Cancel | None = None,
        on_output: OnOutput | None = None,
        native_local: bool = False,
        request_id: str | None = "r-1",
    ) -> Invocation:
        """One permitted call."""
        command = Command("item.show")
        row = PolicyRow(operation="read", limits=limits or Limits(), land=land)
        pack = Pack(
            id="depot",
            version="1.0.0",
            title="Depot",
            kind="wrap",
            digest="d",
            root=str(self.pack_root),
            commands={"item.show": command},
            policy={"item.show": row},
            wrap=Wrap(bin=bin, agent_env=agent_env or {}, workspace=workspace),
        )
        return Invocation(
            pack=pack,
            command=command,
            row=row,
            session=Session("s-1", "acme", "user:ada"),
            envelope=Envelope("depot", "item.show", {}, request_id=request_id),
            argv=argv,
            binding=binding,
            mock=mock,
            directory=directory,
            audit_id="a-1",
            invoker="human",
            depth=0,
            cancel=cancel or Cancel(),
            on_output=on_output,
            native_local=native_local,
        )

    def target(self, **options: str) -> Target:
        """What availability looks at."""
        invocation = self.invocation(**options)  # pyright: ignore[reportArgumentType]
        return Target(invocation.pack, invocation.command, invocation.row, invocation.session)

    def project(self) -> tuple[Path, OpenDirectory]:
        """A project's directory, opened as step 2 does."""
        path = self.root / "project"
        path.mkdir()
        return path, directories().open(os.fspath(path))

    def traces(self) -> list[str]:
        """What is left on disk below the private places of single calls."""
        self.adapter.close()
        return [one.name for place in ("sandbox/calls", "ephemeral") for one in (self.state / place).glob("*")]


def without_pack(invocation: Invocation) -> Invocation:
    """The same call with no wrap settings at all."""
    return replace(invocation, pack=replace(invocation.pack, wrap=None))

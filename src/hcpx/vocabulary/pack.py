"""Packs as the runtime knows them: compiled from a linted manifest, frozen, keyed by digest (Spec 02)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from .policy import PolicyRow

Kind = Literal["wrap", "composite", "openapi", "sense_only", "mcp"]
WorkspaceMode = Literal["pack", "project", "workspace", "ephemeral"]
BOOTSTRAP: Final = "hcp-cli"
FOLLOW: Final = "follow"
"""What stands in place of an activation's digest where a linked pack's changes are accepted as they come."""


class Wrap(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a wrap pack starts its program.

    `unsafe_env` names the variables that the pack may set although they decide what runs (Spec 02 section 6).
    """

    bin: str
    argv_template: tuple[str, ...] | None = None
    json_flag: tuple[str, ...] = ("--json",)
    agent_env: dict[str, str] = {}
    unsafe_env: tuple[str, ...] = ()
    workspace: WorkspaceMode = "pack"
    network: tuple[str, ...] = ()


class BindingFile(msgspec.Struct, frozen=True):
    """A secret handed over as a 0600 file whose path is in the variable `env`."""

    name: str
    content: str
    env: str


class BindingSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a Binding reaches the child, and what the pack proposes to mint it from.

    `proposals` holds the manifest's `oauth`, `aws`, `local` and `connect` mappings as they are; they count
    only as the owner accepted them at `hcpx connect` (Spec 03).
    """

    env: dict[str, str] = {}
    file: BindingFile | None = None
    proposals: dict[str, object] = {}


class Example(msgspec.Struct, frozen=True):
    """Args and the argv that the child gets for them."""

    args: dict[str, object]
    argv: tuple[str, ...]


class StepSpec(msgspec.Struct, frozen=True):
    """One step of a composite; `args` may hold `{$arg: name}` and `{$step: name, path: pointer}` mappings."""

    name: str
    pack_id: str
    verb_key: str
    args: dict[str, object] = {}


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing a pack can do.

    `args_schema` is the whole JSON Schema (2020-12) of the args as JSON text, None where none are declared.
    `cli` and `json_flag` are as in the manifest (`json_flag` None: the pack's own).
    `mock` is None where the command has no fixture, else the fixture as JSON text.
    """

    verb_key: str
    summary: str = ""
    description: str = ""
    cli: tuple[str, ...] | None = None
    json_flag: tuple[str, ...] | None = None
    args_schema: str | None = None
    mock: str | None = None
    examples: tuple[Example, ...] = ()
    steps: tuple[StepSpec, ...] = ()
    output: str | None = None
    handler: str | None = None
    operation_id: str | None = None
    tool: str | None = None


class SenseProbe(msgspec.Struct, frozen=True, omit_defaults=True):
    """A read command that is asked on a timer for a badge."""

    command: str
    every_s: float
    badge: str | None = None
    level: str | None = None


class Skill(msgspec.Struct, frozen=True):
    """The lead of one Skill, and its file's path below the pack directory."""

    name: str
    description: str
    file: str


class Pack(msgspec.Struct, frozen=True, omit_defaults=True):
    """One version of a pack: what its digest stands for.

    `root` is the directory that holds its files (read-only for an installed pack; the owner's own for a
    linked one). `digest` covers every file of the pack, so also the texts that agents read. `files` is a JSON
    object from the path of each file but the manifest to `file:<sha256>`, `exec:<sha256>` or `link:<target>`;
    it stays text, because only diffs and the look-up of the pack's own program read it.
    """

    id: str
    version: str
    title: str
    kind: Kind
    digest: str
    root: str
    commands: dict[str, Command]
    policy: dict[str, PolicyRow]
    description: str = ""
    homepage: str = ""
    license: str = ""
    wrap: Wrap | None = None
    binding: BindingSpec = BindingSpec()
    skills: tuple[Skill, ...] = ()
    sense: dict[str, SenseProbe] = {}
    openapi: dict[str, object] = {}
    mcp: dict[str, object] = {}
    linked: bool = False
    files: str = "{}"


def inactive(pack: Pack, held: str | None) -> Literal["pack_not_activated", "pack_changed"] | None:
    """Return the code that denies a pack to a session which activated it with `held` (None: not at all), or None.

    The bootstrap pack is active on every session (Spec 02 section 5). A pack whose digest is not the one that was
    activated stays denied until it is activated again (Spec 02 section 3).
    """
    if pack.id == BOOTSTRAP:
        return None
    if held is None:
        return "pack_not_activated"
    return None if held == pack.digest or (held == FOLLOW and pack.linked) else "pack_changed"

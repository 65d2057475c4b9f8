"""The bootstrap pack `hcp-cli`: what every live session may ask the runtime itself (Spec 02 section 5)."""

from __future__ import annotations

from typing import Final

import msgspec

from hcpx.vocabulary.pack import BOOTSTRAP, Command, Pack
from hcpx.vocabulary.policy import PolicyRow

_TEXT: Final[dict[str, object]] = {"type": "string"}
_FLAG: Final[dict[str, object]] = {"type": "boolean"}
_TEXTS: Final[dict[str, object]] = {"type": "array", "items": _TEXT}
_WHOLE: Final[dict[str, object]] = {"type": "integer", "minimum": 1}
_PACK: Final[dict[str, object]] = {"type": "string", "description": "A pack's id"}

# verb_key, summary, args, required args. The changing ones answer with the line that the store's owner runs.
_COMMANDS: Final[tuple[tuple[str, str, dict[str, object], tuple[str, ...]], ...]] = (
    ("hcp.list", "List the packs of this session with their commands, and the other installed packs", {}, ()),
    (
        "hcp.availability",
        "Say of each command whether a call would run now, and what is missing where not",
        {"pack": _PACK, "verb_key": {"type": "string", "description": "One command of the pack"}},
        (),
    ),
    (
        "hcp.skill",
        "Give the leads of Skills, the full text of one, or a file beside it",
        {
            "pack": _PACK,
            "name": {"type": "string", "description": "A Skill's name"},
            "full": {"type": "boolean", "description": "The whole text"},
            "file": {"type": "string", "description": "A file beside the Skill"},
        },
        (),
    ),
    ("hcp.doctor", "Check store, audit chain, sandbox, vault, search path and clock", {}, ()),
    ("hcp.activate", "Say how the owner activates a pack", {"pack": _PACK}, ("pack",)),
    ("hcp.deactivate", "Say how the owner deactivates a pack", {"pack": _PACK}, ("pack",)),
    ("hcp.connect", "Say how the owner connects a pack", {"pack": _PACK}, ("pack",)),
    ("hcp.disconnect", "Say how the owner disconnects a pack", {"pack": _PACK}, ("pack",)),
    *(
        (
            f"hcp.{verb}",
            f"Say how the owner {verb}s a capability",
            {
                "principal": {"type": "string", "description": "Whose; the session's own by default"},
                "capability": _TEXT,
                "pack": {"type": "string", "description": "A pack's id, or *"},
                "verb_keys": {"type": "array", "items": _TEXT, "description": "Commands of the pack, or *"},
            },
            ("capability", "pack"),
        )
        for verb in ("grant", "revoke")
    ),
    (
        "hcp.pack_add",
        "Say how the owner installs a pack",
        {
            "path": {"type": "string", "description": "A folder or archive"},
            "link": {"type": "boolean", "description": "Use the folder in place"},
            "replace": {"type": "boolean", "description": "Take it in the place of the installed one"},
        },
        ("path",),
    ),
    ("hcp.pack_remove", "Say how the owner removes a pack", {"pack": _PACK}, ("pack",)),
    (
        "hcp.allow",
        "Say how the owner allows a program of this host",
        {"bin": {"type": "string", "description": "A program's name or path"}},
        ("bin",),
    ),
    (
        "hcp.session_new",
        "Say how the owner makes a session",
        {
            "principal": _TEXT,
            "actor": _TEXT,
            "tenant": _TEXT,
            "project": _TEXT,
            "pack": {"anyOf": [_TEXT, _TEXTS], "description": "One pack or several"},
            "verb": {"anyOf": [_TEXT, _TEXTS], "description": "One command or several"},
            "read_only": _FLAG,
            "ttl": {"type": "string", "description": "How long it lives, such as 8h"},
        },
        (),
    ),
    (
        "hcp.policy_tighten",
        "Say how the owner tightens a Policy row",
        {
            "pack": _PACK,
            "verb_key": {"type": "string", "description": "A command of the pack"},
            "confirm": _FLAG,
            "approvals": {"type": "integer", "minimum": 0},
            "deny": _FLAG,
            "timeout_s": {"type": "number", "exclusiveMinimum": 0},
            "output_bytes": _WHOLE,
            "memory_mb": _WHOLE,
            "processes": _WHOLE,
            "concurrency": _WHOLE,
            "args_schema": {"type": "string", "description": "A file with a JSON Schema for the args"},
        },
        ("pack", "verb_key"),
    ),
)


def bootstrap_pack(version: str) -> Pack:
    """Return the pack of this runtime's version; every live session may call it, within its scope."""
    import hashlib

    row = PolicyRow("read", everyone=True, idempotent=True)
    commands = {key: _command(key, summary, args, required) for key, summary, args, required in _COMMANDS}
    bare = Pack(
        id=BOOTSTRAP,
        version=version,
        title="The runtime itself",
        kind="composite",
        digest="",
        root="",
        commands=commands,
        policy=dict.fromkeys(commands, row),
        description="What can be called, how to use it, and what to ask the store's owner for",
    )
    digest = hashlib.sha256(msgspec.json.encode(bare)).hexdigest()
    return msgspec.structs.replace(bare, digest=f"sha256:{digest}")


def _command(verb_key: str, summary: str, args: dict[str, object], required: tuple[str, ...]) -> Command:
    schema: dict[str, object] = {"type": "object", "properties": args, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return Command(
        verb_key=verb_key,
        summary=summary,
        args_schema=msgspec.json.encode(schema).decode(),
        handler=verb_key,
    )

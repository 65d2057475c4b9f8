"""The bootstrap pack's changing commands: the CLI process owns the store, so each answers its exact line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from hcpx.vocabulary.denial import hint_for, shell_quoted
from hcpx.vocabulary.invocation import Invocation


def deferred(call: Invocation) -> object:
    """Answer with the line that makes the change; an agent is told to ask the owner for it (Spec 07)."""
    hint = " ".join(["hcpx", *(word for word in LINES[call.command.verb_key](call) if word)])
    return {"deferred_to_cli": True, "hint": hint_for(call.session.actor, hint)}


def text_arg(call: Invocation, name: str) -> str | None:
    """Return a text arg, None where it was not given."""
    value = call.envelope.args.get(name)
    return value if isinstance(value, str) else None


def _quoted(call: Invocation, name: str, otherwise: str) -> str:
    value = text_arg(call, name)
    return otherwise if value is None else shell_quoted(value)


def _option(flag: str, call: Invocation, name: str) -> str:
    value = call.envelope.args.get(name)
    if value is None or value is False:
        return ""
    if isinstance(value, list):
        return _each(flag, call, name)
    return flag if value is True else f"{flag} {shell_quoted(str(value))}"


def _each(flag: str, call: Invocation, name: str) -> str:
    value = call.envelope.args.get(name)
    items = [str(item) for item in cast("list[object]", value)] if isinstance(value, list) else ["*"]
    return " ".join(f"{flag} {shell_quoted(item)}" for item in items)


def _right(word: str) -> Callable[[Invocation], tuple[str, ...]]:
    return lambda call: (
        word,
        shell_quoted(text_arg(call, "principal") or call.session.principal),
        _quoted(call, "capability", "CAPABILITY"),
        f"--pack {_quoted(call, 'pack', shell_quoted('*'))}",
        _each("--verb", call, "verb_keys"),
    )


def _of(word: str, name: str, otherwise: str, *options: tuple[str, str]) -> Callable[[Invocation], tuple[str, ...]]:
    return lambda call: (
        word,
        _quoted(call, name, otherwise),
        *(_option(flag, call, arg) for flag, arg in options),
    )


def _session_new(call: Invocation) -> tuple[str, ...]:
    names = ("principal", "actor", "tenant", "project", "pack", "verb", "read_only", "ttl")
    return ("session new", *(_option(f"--{name.replace('_', '-')}", call, name) for name in names))


def _policy_tighten(call: Invocation) -> tuple[str, ...]:
    row = shell_quoted(f"{text_arg(call, 'pack') or 'PACK'}.{text_arg(call, 'verb_key') or 'VERB'}")
    names = (
        "confirm", "approvals", "deny", "timeout_s", "output_bytes", "memory_mb", "processes", "concurrency",
        "args_schema",
    )  # fmt: skip
    return ("policy tighten", row, *(_option(f"--{name.replace('_', '-')}", call, name) for name in names))


LINES: Final[dict[str, Callable[[Invocation], tuple[str, ...]]]] = {
    "hcp.activate": _of("activate", "pack", "PACK"),
    "hcp.deactivate": _of("deactivate", "pack", "PACK"),
    "hcp.connect": _of("connect", "pack", "PACK"),
    "hcp.disconnect": _of("disconnect", "pack", "PACK"),
    "hcp.grant": _right("grant"),
    "hcp.revoke": _right("revoke"),
    "hcp.pack_add": _of("pack add", "path", "PATH", ("--link", "link"), ("--replace", "replace")),
    "hcp.pack_remove": _of("pack remove", "pack", "PACK"),
    "hcp.allow": _of("allow", "bin", "BIN"),
    "hcp.session_new": _session_new,
    "hcp.policy_tighten": _policy_tighten,
}
"""The words behind `hcpx` for each changing command."""

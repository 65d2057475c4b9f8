"""Rules about credentials: a family that a row asks for can reach the program (Spec 03)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from hcpx.vocabulary.text import nearest

from .rule import Draft, Hit, Rule

TEMPLATE: Final = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}")
"""A placeholder of a binding template; the names inside are the minter's, not args."""

TEMPLATE_NAMES: Final = (
    "access_token",
    "secret",
    "expires_at",
    "access_key_id",
    "secret_access_key",
    "session_token",
)


def _binding_undelivered(draft: Draft) -> Iterator[Hit]:
    for verb_key, row in draft.pack.policy.items():
        if row.binding == "public" or _delivers(draft, row.binding):
            continue
        yield Hit(
            f"{verb_key} asks for the binding {row.binding}, and nothing in the pack delivers one",
            ("policy", verb_key, "binding"),
        )


def _delivers(draft: Draft, family: str) -> bool:
    pack = draft.pack
    if pack.kind == "composite":
        return False
    if pack.kind == "openapi" or "url" in pack.mcp:
        return True
    if family == "local" and _local(draft).get("files"):
        return True
    templates = [*pack.binding.env.values(), *([pack.binding.file.content] if pack.binding.file else [])]
    return any(TEMPLATE.search(template) for template in templates)


def _local_undeclared(draft: Draft) -> Iterator[Hit]:
    local = _local(draft)
    if local.get("files") or local.get("command"):
        return
    for verb_key, row in draft.pack.policy.items():
        if row.binding == "local":
            yield Hit(
                f"{verb_key} asks for the binding local, and binding.local names neither files nor a command",
                ("policy", verb_key, "binding"),
            )


def _local(draft: Draft) -> dict[str, object]:
    return cast("dict[str, object]", draft.pack.binding.proposals.get("local", {}))


def _unknown_template_name(draft: Draft) -> Iterator[Hit]:
    binding = draft.pack.binding
    templates: list[tuple[str, tuple[str, ...]]] = [
        (template, ("binding", "env", name)) for name, template in binding.env.items()
    ]
    if binding.file is not None:
        templates.append((binding.file.content, ("binding", "file", "content")))
    for template, path in templates:
        for name in TEMPLATE.findall(template):
            if name not in TEMPLATE_NAMES:
                near = nearest(name, TEMPLATE_NAMES)
                mend = f"did you mean {near}?" if near else None
                yield Hit(f"no minter of hcpx gives {name}", path, mend)


def _bad_connect(draft: Draft) -> Iterator[Hit]:
    connect = cast("dict[str, object]", draft.pack.binding.proposals.get("connect", {}))
    command = str(connect.get("command", ""))
    row = draft.pack.policy.get(command)
    if connect and (command not in draft.pack.commands or row is None or row.operation != "connect"):
        yield Hit(f"{command} is no connect command of the pack", ("binding", "connect", "command"))


def _oauth_nowhere(draft: Draft) -> Iterator[Hit]:
    oauth = cast("dict[str, object] | None", draft.pack.binding.proposals.get("oauth"))
    if oauth is not None and not (("issuer" in oauth) ^ ("endpoints" in oauth)):
        yield Hit("binding.oauth names either an issuer or endpoints", ("binding", "oauth"))


RULES: Final = (
    Rule(
        code="binding_undelivered",
        severity="error",
        demand="A binding family that a row asks for is delivered: by a template in binding.env or file, "
        "by binding.local.files, or by the security scheme of an API. Composites get none: their steps do.",
        mend="add binding.env, or set the row's binding to public",
        check=_binding_undelivered,
        refused=(
            "policy: {look: {operation: read, binding: user}}",
            "policy: {look: {operation: read, binding: mothership}}\nbinding: {env: {TOKEN: fixed}}",
        ),
        fine=(
            "policy: {look: {operation: read, binding: user}}\nbinding: {env: {TOKEN: '{{access_token}}'}}",
            (
                "policy: {look: {operation: read, binding: user}}\n"
                "binding: {file: {name: key, content: '{{secret}}', env: KEY_FILE}}"
            ),
            "policy: {look: {operation: read, binding: local}}\nbinding: {local: {files: [~/.tool/config]}}",
        ),
    ),
    Rule(
        code="local_undeclared",
        severity="error",
        demand="A row with binding local needs binding.local with files or a command.",
        mend="add binding.local.files or binding.local.command",
        check=_local_undeclared,
        refused=(
            "policy: {look: {operation: read, binding: local}}\nbinding: {env: {TOKEN: '{{secret}}'}}",
            (
                "policy: {look: {operation: read, binding: local}}\n"
                "binding: {env: {TOKEN: '{{secret}}'}, local: {files: []}}"
            ),
        ),
        fine=(
            (
                "policy: {look: {operation: read, binding: local}}\n"
                "binding: {env: {TOKEN: '{{secret}}'}, local: {command: [tool, login]}}"
            ),
        ),
    ),
    Rule(
        code="unknown_template_name",
        severity="warning",
        demand=f"A binding template uses names that a minter gives: {', '.join(TEMPLATE_NAMES)}, "
        "or those of a minter of your own.",
        mend="use one of those, or install the minter that gives it",
        check=_unknown_template_name,
        refused=("binding: {env: {TOKEN: '{{acess_token}}'}}",),
        fine=("binding: {env: {TOKEN: 'Bearer {{access_token}}'}}",),
    ),
    Rule(
        code="bad_connect",
        severity="error",
        demand="binding.connect names a command of the pack whose operation is connect.",
        mend="name such a command",
        check=_bad_connect,
        refused=("binding: {connect: {command: look, secret: /token}}",),
        fine=("binding: {connect: {command: look, secret: /token}}\npolicy: {look: {operation: connect}}",),
    ),
    Rule(
        code="oauth_nowhere",
        severity="error",
        demand="binding.oauth names either an issuer or its endpoints.",
        mend="keep one of issuer and endpoints",
        check=_oauth_nowhere,
        refused=("binding: {oauth: {client_id: x}}",),
        fine=("binding: {oauth: {issuer: 'https://id.example', client_id: x}}",),
    ),
)

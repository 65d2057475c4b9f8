"""Rules that keep credentials out of argument lists, which every user of a machine can read (Spec 03)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from hcpx.rendering.template import Token, is_flag, placeholders
from hcpx.rendering.traits import declared

from .binding import TEMPLATE_NAMES
from .rule import Draft, Hit, Rule
from .templates import cli, rendered

_SECRET_WORDS: Final = frozenset(
    {
        *("password", "passwd", "passphrase", "secret", "token", "api-key", "apikey", "access-key"),
        *("secret-key", "private-key", "client-secret", "auth-token", "access-token"),
        *("refresh-token", "bearer", "credential", "credentials"),
    }
)
_BRACES: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_VARIABLE: Final = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")


def _credential_in_cli(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        known = declared(one.schema) if one.schema is not None else {}
        secret_flag = False
        for token in one.template.tokens:
            what = _credential(token, known, after_secret_flag=secret_flag)
            if what is not None:
                yield Hit(f"{one.command.verb_key}: {what}", one.at(token))
            secret_flag = not token.names and is_flag(token.text) and _secret_word(token.text)


def _credential(token: Token, known: dict[str, list[object]], *, after_secret_flag: bool) -> str | None:
    """Say which credential a token holds, or return None."""
    for name in cast("list[str]", _BRACES.findall(token.text)):
        if name.startswith("binding.") or (name in TEMPLATE_NAMES and name not in known):
            return f"{{{{{name}}}}} would put a credential into the argument list"
    flag, equals, value = token.text.partition("=")
    literal = not token.names and token.text not in ("", "-", "--")
    if literal and ((after_secret_flag and not is_flag(token.text)) or (equals and value and _secret_word(flag))):
        return "a credential is written out"
    return None


def _variable_in_cli(draft: Draft) -> Iterator[Hit]:
    variables = {*draft.pack.binding.env}
    if draft.pack.binding.file is not None:
        variables.add(draft.pack.binding.file.env)
    for one in rendered(draft):
        for token in one.template.tokens:
            for name in cast("list[str]", _VARIABLE.findall(token.text)):
                if name in variables:
                    yield Hit(f"{one.command.verb_key}: ${name} goes to the program as it is written", one.at(token))


def _secret_word(flag: str) -> bool:
    name = flag.lower().lstrip("-").replace("_", "-")
    return flag.startswith("-") and any(name == word or name.endswith(f"-{word}") for word in _SECRET_WORDS)


def _secret_in_argv(draft: Draft) -> Iterator[Hit]:
    for one in rendered(draft):
        for use in placeholders(one.template):
            secret = use.name in one.traits and one.traits[use.name].secret
            if secret or _secret_word(f"-{use.name}"):
                message = f"{one.command.verb_key}: the secret arg {use.name} is seen by whoever lists processes"
                yield Hit(message, one.at(use.token))


RULES: Final = (
    Rule(
        code="credential_in_cli",
        severity="error",
        demand="No credential gets into the argument list, which every user of the machine can read.",
        mend="deliver it by binding.env or binding.file",
        check=_credential_in_cli,
        refused=(
            cli("--token, '{{binding.token}}'"),
            cli("--token, '{{access_token}}'"),
            cli("'--header=Bearer {{ secret }}'"),
            cli("--password, hunter2"),
            cli("--api-key=hunter2"),
        ),
        fine=(
            cli("--token, '{{token}}'", ", args: {token: {type: string, x-secret: true}}"),
            cli("--token-file, key.txt, --password-stdin"),
            cli("--secret, --verbose"),
        ),
    ),
    Rule(
        code="variable_in_cli",
        severity="warning",
        demand="A variable of the binding does not stand in cli: no shell is there to fill it in.",
        mend="let the program read the variable itself",
        check=_variable_in_cli,
        refused=("binding: {env: {TOOL_TOKEN: '{{secret}}'}}\n" + cli("-H, '${TOOL_TOKEN}'"),),
        fine=("binding: {env: {TOOL_TOKEN: '{{secret}}'}}\n" + cli("-H, $OTHER"),),
    ),
    Rule(
        code="secret_in_argv",
        severity="warning",
        demand="A secret arg does not get into the argument list.",
        mend="let hcpx connect store it and deliver it by binding.env; at least say x-secret: true",
        check=_secret_in_argv,
        refused=(
            cli("--token, '{{token}}'"),
            cli("--pin, '{{pin}}'", ", args: {pin: {type: string, x-secret: true}}"),
        ),
        fine=(cli("--pin, '{{pin}}'", ", args: {pin: {type: string}}"),),
    ),
)

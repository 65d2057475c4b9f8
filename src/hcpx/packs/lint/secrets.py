"""The rule that no secret stands in a pack, in the manifest or in any other file (Spec 02 section 6).

What is found is named by its kind and place; the text itself never gets into a finding.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from hcpx.packs.files import open_file
from hcpx.packs.yaml_nodes import Node, Path

from .rule import Draft, Hit, Rule

_CHUNK: Final = 1024 * 1024
_OVERLAP: Final = 4096
_LEAST: Final = 16
_ENTROPY: Final = 3.2
_TURNS: Final = 3

# What must be in a text before it is searched for the form, which makes scanning cheap; and what it then is.
_FORMS: Final[tuple[tuple[bytes, re.Pattern[bytes], str], ...]] = tuple(
    (literal, re.compile(form), what)
    for literal, form, what in (
        (b"PRIVATE KEY", rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----", "a private key"),
        (b"PuTTY-User-Key", rb"PuTTY-User-Key-File-\d", "a private key"),
        (b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[0-9A-Z]{50,}", "a private key"),
        (b"AKIA", rb"\bAKIA[0-9A-Z]{16}\b", "an AWS access key"),
        (b"ASIA", rb"\bASIA[0-9A-Z]{16}\b", "an AWS access key"),
        (b"ghp_", rb"\bghp_[A-Za-z0-9]{20,}", "a GitHub token"),
        (b"gho_", rb"\bgho_[A-Za-z0-9]{20,}", "a GitHub token"),
        (b"ghu_", rb"\bghu_[A-Za-z0-9]{20,}", "a GitHub token"),
        (b"ghs_", rb"\bghs_[A-Za-z0-9]{20,}", "a GitHub token"),
        (b"ghr_", rb"\bghr_[A-Za-z0-9]{20,}", "a GitHub token"),
        (b"github_pat_", rb"\bgithub_pat_[A-Za-z0-9_]{20,}", "a GitHub token"),
        (b"glpat-", rb"\bglpat-[A-Za-z0-9_-]{16,}", "a GitLab token"),
        (b"xox", rb"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "a Slack token"),
        (b"xapp-", rb"\bxapp-[A-Za-z0-9-]{10,}", "a Slack token"),
        (
            b"hooks.slack.com",
            rb"hooks\.slack\.com/services/[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,}",
            "a webhook's address",
        ),
        (b"_live_", rb"\b[a-z]{2}_live_[A-Za-z0-9]{12,}", "a payment provider's key"),
        (b"_test_", rb"\b[srp]k_test_[A-Za-z0-9]{12,}", "a payment provider's key"),
        (b"whsec_", rb"\bwhsec_[A-Za-z0-9]{20,}", "a webhook's secret"),
        (b"sk-", rb"\bsk-(?:[a-z]+-)*[A-Za-z0-9_]{20,}", "a model provider's key"),
        (b"AIza", rb"\bAIza[0-9A-Za-z_-]{35}", "a Google key"),
        (b"ya29.", rb"\bya29\.[0-9A-Za-z_-]{20,}", "a Google token"),
        (b"GOCSPX-", rb"\bGOCSPX-[0-9A-Za-z_-]{20,}", "a Google client secret"),
        (b"npm_", rb"\bnpm_[A-Za-z0-9]{36}", "an npm token"),
        (b"pypi-", rb"\bpypi-[A-Za-z0-9_-]{50,}", "a PyPI token"),
        (b"hf_", rb"\bhf_[A-Za-z0-9]{30,}", "a Hugging Face token"),
        (b"SG.", rb"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "a SendGrid key"),
        (b"_v1_", rb"\bdo[opr]_v1_[a-f0-9]{40,}", "a DigitalOcean token"),
        (b"dckr_pat_", rb"\bdckr_pat_[A-Za-z0-9_-]{20,}", "a Docker token"),
        (b"shp", rb"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "a Shopify token"),
        (b"dop_v1_", rb"\bdop_v1_[a-f0-9]{64}", "a DigitalOcean token"),
        (b"hvs.", rb"\bhvs\.[A-Za-z0-9_-]{20,}", "a Vault token"),
        (b"eyJ", rb"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", "a signed token"),
    )
)
_NAME: Final = rb"""(?:passw(?:or)?d|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key
    |private[_-]?key|auth[_-]?key|credentials?)"""
_NAME_PARTS: Final = (b"pass", b"pwd", b"secret", b"token", b"key", b"credential")
_QUOTED: Final = re.compile(
    rb"(?ix)"
    + _NAME
    + rb"""[a-z0-9_.-]{0,20}["'\])]{0,2}\s{0,4}
    (?::=|=>|=|:)\s{0,4}["'](?P<value>[^\s"'\\]{8,200})["']"""
)
_LINE: Final = re.compile(
    rb"(?imx) ^[ \t]{0,40}(?:-[ \t]+)?(?:export[ \t]+)?[a-z0-9_.-]{0,40}?"
    + _NAME
    + rb"""[a-z0-9_.-]{0,20}
    [ \t]{0,4}[:=][ \t]{0,4}(?P<value>[a-z0-9+/=_~.-]{16,200})[ \t]*\r?$"""
)
_IN_ADDRESS: Final = re.compile(
    rb"""[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>{}$]{1,80}:(?P<value>[^\s/:@"'<>{}$]{3,120})@"""
)
_NAMED: Final = re.compile(_NAME, re.IGNORECASE | re.VERBOSE)
_STAND_INS: Final = re.compile(
    rb"""(?ix)^(?:x+|\*+|\.+|-+|pass|passw(?:or)?d|secret|token|changeme|change-me|redacted|example|placeholder|mock-.*
    |your[-_].*|my[-_].*|some[-_].*|test|foo|bar|none|null|true|false)$"""
)


def _secret_literal(draft: Draft) -> Iterator[Hit]:
    for file in draft.inventory.files:
        if not file.look.startswith("link:"):
            yield from _in_file(draft.root, file.path)
    yield from _in_tree(draft.tree, ())


def _in_file(root: str, path: str) -> Iterator[Hit]:
    before = 1
    with os.fdopen(open_file(root, path), "rb") as file:
        tail = b""
        while chunk := file.read(_CHUNK):
            text = tail + chunk
            seen: set[int] = set()
            for start, what in secrets_in(text):
                # What lies whole in the overlap was reported with the chunk before.
                if start not in seen:
                    seen.add(start)
                    line = before + text.count(b"\n", 0, start)
                    column = start - text.rfind(b"\n", 0, start)
                    yield Hit(f"{what} stands in the file", file=path, line=line, column=column)
            tail = text[-_OVERLAP:]
            before += text.count(b"\n", 0, len(text) - len(tail))


def _in_tree(node: Node, path: Path) -> Iterator[Hit]:
    """Look at the manifest's texts as they are meant: escapes undone, keys beside their values."""
    for key, entry in node.entries().items():
        value = entry.node.value
        if isinstance(value, str) and _NAMED.search(key.encode()) and _looks_random(value.encode()):
            yield Hit(f"the value of {key} looks like a secret", line=entry.node.line, column=entry.node.column)
        yield from _in_tree(entry.node, (*path, key))
    for place, item in enumerate(node.items()):
        yield from _in_tree(item, (*path, place))
    if isinstance(node.value, str):
        for _, what in list(secrets_in(node.value.encode()))[:1]:
            yield Hit(f"{what} stands in the manifest", line=node.line, column=node.column)


def secrets_in(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield where a secret-looking literal stands in a text, and what it looks like."""
    for literal, form, what in _FORMS:
        if literal in text:
            for match in form.finditer(text):
                if b"EXAMPLE" not in match.group():
                    yield match.start(), what
    lower = text.lower()
    for form in (_QUOTED, _LINE) if any(part in lower for part in _NAME_PARTS) else ():
        for match in form.finditer(text):
            if _looks_random(match["value"]):
                yield match.start("value"), "what looks like a secret"
    for match in _IN_ADDRESS.finditer(text) if b"://" in text else ():
        if not _STAND_INS.match(match["value"]):
            yield match.start("value"), "a password in an address"


def _looks_random(value: bytes) -> bool:
    """Tell a generated secret from a word, a path or a stand-in: long, varied, digits between letters."""
    if len(value) < _LEAST or b"{{" in value or _STAND_INS.match(value) or b"://" in value:
        return False
    words = re.findall(rb"[0-9A-Za-z]+", value)
    turns = sum(len(re.findall(rb"[0-9]+|[a-z]+|[A-Z]+", word)) - 1 for word in words)
    shares = [count / len(value) for count in Counter(value).values()]
    entropy = -sum(share * math.log2(share) for share in shares)
    mixed = re.search(rb"[0-9]", value) is not None and re.search(rb"[A-Za-z]", value) is not None
    return mixed and entropy >= _ENTROPY and turns >= _TURNS


RULES: Final = (
    Rule(
        code="secret_literal",
        severity="error",
        demand="No secret stands in a pack, whatever file it is in: tokens by their prefixes, private keys, "
        "passwords in addresses, and random texts beside a name such as password, secret, token or api_key.",
        mend="remove it, revoke it at its issuer, and let hcpx connect store the new one",
        check=_secret_literal,
        refused=(
            "wrap: {bin: bin/tool, agent_env: {X: 'ghp_0123456789abcdefghijABCDEFGHIJ'}}",
            "wrap: {bin: bin/tool, agent_env: {API_TOKEN: 'q7Zr2Lw9Xc4Tn8Vb1Mk6'}}",
            "commands: {look: {cli: [tool, 'https://ada:correct-horse@x.example/']}}",
            'description: "-----BEGIN OPENSSH \\x50RIVATE KEY-----"',
        ),
        fine=(
            "wrap: {bin: bin/tool, agent_env: {TOKEN_URL: 'https://id.example/token', SECRET_NAME: x}}",
            "binding: {env: {API_TOKEN: '{{access_token}}'}}",
            "commands: {look: {cli: [tool, 'https://user:password@x.example/'], mock: {token: mock-1}}}",
        ),
    ),
)

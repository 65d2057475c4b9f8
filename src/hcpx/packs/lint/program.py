"""Rules about the program of a pack, its environment and where it is found (Spec 02 sections 2 and 6)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from hcpx.packs.files import LEFT_OUT, inside

from .rule import Draft, Hit, Rule

DECIDES_WHAT_RUNS: Final = (
    "LD_*",
    "DYLD_*",
    "PYTHON*",
    "NODE_OPTIONS",
    "BASH_ENV",
    "ENV",
    "PERL5*",
    "RUBY*",
    "GIT_*",
    "PATH",
    "HOME",
    "TMPDIR",
    "IFS",
)
OURS: Final = "HCP_*"

_SECTIONS: Final = {"wrap": "wrap", "openapi": "openapi", "mcp": "mcp"}
_COMMAND_KEYS: Final = {
    "wrap": ("cli", "json_flag", "examples"),
    "composite": ("steps", "output", "handler"),
    "openapi": ("operation_id",),
    "mcp": ("tool",),
}


def _section_missing(draft: Draft) -> Iterator[Hit]:
    kind = draft.pack.kind
    section = _SECTIONS.get(kind)
    if section is not None and section not in draft.body():
        yield Hit(f"a pack of kind {kind} needs the key {section}", ("kind",), f"add {section}:")
    if kind == "mcp" and len(draft.pack.mcp) != 1:
        yield Hit("an mcp pack has either command or url", ("mcp",), "keep one of command and url")


def _key_of_other_kind(draft: Draft) -> Iterator[Hit]:
    kind = draft.pack.kind
    for section in _SECTIONS.values():
        if section in draft.body() and section != _SECTIONS.get(kind):
            yield Hit(f"the key {section} says nothing in a pack of kind {kind}", (section,))
    for verb_key in draft.pack.commands:
        body = draft.body("commands", verb_key)
        for other, keys in _COMMAND_KEYS.items():
            for key in keys:
                if key in body and other != kind:
                    message = f"{verb_key}: {key} says nothing in a pack of kind {kind}"
                    yield Hit(message, ("commands", verb_key, key))


def _no_template(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    if draft.pack.kind != "wrap" or wrap is None or wrap.argv_template is not None:
        return
    for verb_key, command in draft.pack.commands.items():
        if command.cli is None:
            yield Hit(f"{verb_key} has no cli, and wrap has no argv_template", ("commands", verb_key))


def _bin_blanks(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    if wrap is not None and (wrap.bin != wrap.bin.strip() or not wrap.bin.isprintable()):
        yield Hit("the name of the program has blanks around it or invisible characters", ("wrap", "bin"))


def _bin_leaves_pack(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    if wrap is None or os.path.isabs(wrap.bin):
        return
    if wrap.bin in (".", "..") or ("/" in wrap.bin and _leaves(draft.root, wrap.bin)):
        yield Hit(f'"{wrap.bin}" leads out of the pack', ("wrap", "bin"))
    elif "/" not in wrap.bin and os.path.islink(_below(draft, wrap.bin)) and _leaves(draft.root, wrap.bin):
        yield Hit(f'the link "{wrap.bin}" leads out of the pack', ("wrap", "bin"))


def _bin_absolute(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    if wrap is not None and os.path.isabs(wrap.bin):
        yield Hit(f'"{wrap.bin}" is a path of one machine', ("wrap", "bin"))


def _bin_missing(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    if wrap is None or os.path.isabs(wrap.bin) or _leaves(draft.root, wrap.bin):
        return
    path = os.path.realpath(_below(draft, wrap.bin))
    if "/" in wrap.bin and not os.path.isfile(path):
        yield Hit(f'the pack has no file "{wrap.bin}"', ("wrap", "bin"))
    elif os.path.isfile(path) and not os.stat(path).st_mode & 0o111:
        yield Hit(f'the file "{wrap.bin}" cannot be executed', ("wrap", "bin"), f"chmod +x {wrap.bin}")


def _document_leaves_pack(draft: Draft) -> Iterator[Hit]:
    document = str(draft.pack.openapi.get("document", ""))
    if document and (os.path.isabs(document) or _leaves(draft.root, document)):
        yield Hit(f'"{document}" leads out of the pack', ("openapi", "document"))


def _document_missing(draft: Draft) -> Iterator[Hit]:
    document = str(draft.pack.openapi.get("document", ""))
    if document and not _leaves(draft.root, document) and not os.path.isfile(_below(draft, document)):
        yield Hit(f'the pack has no file "{document}"', ("openapi", "document"))


def _env_decides(draft: Draft) -> Iterator[Hit]:
    allowed = draft.pack.wrap.unsafe_env if draft.pack.wrap is not None else ()
    for name, path in _variables(draft):
        if fnmatchcase(name, OURS):
            mend = "choose another name: the runtime alone sets HCP_ variables"
            yield Hit(f"{name} is a variable of the runtime", path, mend)
        elif name not in allowed and decides_what_runs(name):
            yield Hit(f"{name} decides what runs", path)


def _port_range(draft: Draft) -> Iterator[Hit]:
    hosts = draft.pack.wrap.network if draft.pack.wrap is not None else ()
    for place, host in enumerate(hosts):
        port = host.rpartition(":")[2] if not host.endswith("]") and ":" in host else "1"
        if int(port) > 65535:
            yield Hit(f'"{host}" has no such port', ("wrap", "network", place))


def decides_what_runs(name: str) -> bool:
    """Tell whether a variable can make a program run other code (Spec 02 section 6)."""
    return any(fnmatchcase(name, pattern) for pattern in DECIDES_WHAT_RUNS)


def _variables(draft: Draft) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    wrap, binding = draft.pack.wrap, draft.pack.binding
    if wrap is not None:
        for name in wrap.agent_env:
            yield name, ("wrap", "agent_env", name)
        for place, name in enumerate(wrap.unsafe_env):
            if fnmatchcase(name, OURS):
                yield name, ("wrap", "unsafe_env", place)
    for name in binding.env:
        yield name, ("binding", "env", name)
    if binding.file is not None:
        yield binding.file.env, ("binding", "file", "env")


def _below(draft: Draft, path: str) -> str:
    return os.path.join(draft.root, path)


def _leaves(root: str, path: str) -> bool:
    """Tell whether a relative path ends outside of the pack, links followed."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, path))
    return not inside(real_root, real) or os.path.relpath(real, real_root).split(os.sep)[0] in LEFT_OUT


RULES: Final = (
    Rule(
        code="section_missing",
        severity="error",
        demand="A pack has the section of its kind: wrap, openapi, or mcp with either command or url.",
        mend="add it",
        check=_section_missing,
        refused=(
            "wrap:",
            "kind: openapi\nwrap:",
            "kind: mcp\nwrap:\nmcp: {command: [x], url: 'https://x.example'}",
        ),
        fine=("kind: mcp\nwrap:\nmcp: {command: [x]}\ncommands: {look: {summary: s, tool: look}}",),
    ),
    Rule(
        code="key_of_other_kind",
        severity="warning",
        demand="A pack has no keys that belong to another kind: they say nothing there.",
        mend="remove the key",
        check=_key_of_other_kind,
        refused=("mcp: {command: [x]}", "commands: {look: {cli: [tool, look], tool: look}}"),
        fine=("{}",),
    ),
    Rule(
        code="no_template",
        severity="error",
        demand="A command of a wrap pack has cli, or the pack has wrap.argv_template.",
        mend="add cli: [program, ...]",
        check=_no_template,
        refused=("commands: {look: {summary: Look}}",),
        fine=("wrap: {bin: bin/tool, argv_template: ['{{verb}}']}\ncommands: {look: {summary: Look}}",),
    ),
    Rule(
        code="bin_blanks",
        severity="error",
        demand="The name of a program has no blanks around it and no invisible characters.",
        mend="write the name alone",
        check=_bin_blanks,
        refused=("wrap: {bin: 'tool '}", 'wrap: {bin: "bin/\\u200btool"}'),
        fine=("wrap: {bin: tool}",),
    ),
    Rule(
        code="bin_leaves_pack",
        severity="error",
        demand="A relative program path stays inside the pack, links followed.",
        mend="put the program into the pack, or name one of the host without a slash",
        check=_bin_leaves_pack,
        refused=(
            "wrap: {bin: ../tool}",
            "wrap: {bin: bin/../../tool}",
            "wrap: {bin: ..}",
            "wrap: {bin: .git/x}",
        ),
        fine=("wrap: {bin: bin/../bin/tool}", "wrap: {bin: sh}"),
    ),
    Rule(
        code="bin_absolute",
        severity="warning",
        demand="A program is named without the path of one machine.",
        mend="name the program without its folder; hcpx allow stores the real path on each host",
        check=_bin_absolute,
        refused=("wrap: {bin: /usr/bin/env}",),
        fine=("wrap: {bin: env}",),
    ),
    Rule(
        code="bin_missing",
        severity="warning",
        demand="A program of the pack's own is there and can be executed.",
        mend="put it there",
        check=_bin_missing,
        refused=("wrap: {bin: bin/other}", "wrap: {bin: SKILL.md}"),
        fine=("{}", "wrap: {bin: tool}"),
    ),
    Rule(
        code="document_leaves_pack",
        severity="error",
        demand="The OpenAPI document is a file below the pack.",
        mend="put the document into the pack",
        check=_document_leaves_pack,
        refused=("openapi: {document: ../api.json}", "openapi: {document: /etc/hosts}"),
        fine=("openapi: {document: api.json}",),
    ),
    Rule(
        code="document_missing",
        severity="warning",
        demand="The OpenAPI document is there.",
        mend="put it there",
        check=_document_missing,
        refused=("openapi: {document: api.json}",),
        fine=("openapi: {document: SKILL.md}",),
    ),
    Rule(
        code="env_decides",
        severity="error",
        demand=f"No variable decides what runs ({', '.join(DECIDES_WHAT_RUNS)}) unless unsafe_env names it; "
        f"{OURS} is the runtime's in any case.",
        mend="remove it, or name it in wrap.unsafe_env, which whoever activates the pack is shown",
        check=_env_decides,
        refused=(
            "wrap: {bin: bin/tool, agent_env: {LD_PRELOAD: x.so}}",
            "wrap: {bin: bin/tool, agent_env: {HCP_SANDBOX: sandbox}, unsafe_env: [HCP_SANDBOX]}",
            "binding: {env: {PATH: '{{access_token}}'}}",
            "binding: {file: {name: k, content: '{{secret}}', env: HOME}}",
        ),
        fine=(
            "wrap: {bin: bin/tool, agent_env: {LD_PRELOAD: x.so}, unsafe_env: [LD_PRELOAD]}",
            "wrap: {bin: bin/tool, agent_env: {ENVIRONMENT: x, MY_PATH: y}}",
        ),
    ),
    Rule(
        code="bad_port",
        severity="error",
        demand="A port in wrap.network is at most 65535.",
        mend="write host or host:port",
        check=_port_range,
        refused=("wrap: {bin: bin/tool, network: ['api.example:70000']}",),
        fine=("wrap: {bin: bin/tool, network: ['api.example:443', '[::1]:80', '[::1]', api.example]}",),
    ),
)

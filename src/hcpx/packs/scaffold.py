"""`hcpx pack new`: a pack around a program, its commands proposed from `--help`; it lints without errors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.pack import BOOTSTRAP
from hcpx.vocabulary.principal import MAX_SLUG

from .help_text import Argument, arguments, json_flag, listed_commands

_READS: Final = frozenset(
    {
        *("cat", "count", "describe", "diff", "display", "find", "get", "info", "inspect", "list"),
        *("log", "logs", "ls", "ps", "read", "search", "show", "stat", "status", "stats", "tree"),
        *("version", "view", "whoami"),
    }
)
_CHANGES: Final = frozenset(
    {
        *("add", "and", "apply", "clear", "create", "delete", "drop", "edit", "init", "insert"),
        *("install", "kill", "make", "merge", "move", "new", "or", "patch", "purge", "push", "put"),
        *("remove", "rename", "replace", "reset", "restart", "revert", "rm", "run", "save", "send"),
        *("set", "start", "stop", "sync", "then", "update", "upload", "write"),
    }
)
_MOST: Final = 200
_VERB: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*")
_SECRET: Final = re.compile(r"pass(word|wd|phrase)|secret|token|(api|access|private)[_-]?key|credential", re.IGNORECASE)


class Proposal(msgspec.Struct, frozen=True):
    """One command that a help text suggests; `read` only where its name plainly says so."""

    verb_key: str
    words: tuple[str, ...]
    summary: str
    read: bool
    arguments: tuple[Argument, ...] = ()
    json_flag: tuple[str, ...] | None = None


def propose(help_text: str, below: Mapping[tuple[str, ...], str] | None = None) -> tuple[Proposal, ...]:
    """Return the commands that a program's help text suggests.

    `below` has the help text of single commands by their words (`("remote", "add")`): with it their arguments
    are known, and commands that list commands of their own give way to these. At most 200 are proposed.
    """
    found: dict[str, Proposal] = {}
    for one in _proposals(help_text, (), below or {}):
        if _VERB.fullmatch(one.verb_key) and len(one.verb_key) <= 128 and len(found) < _MOST:
            found.setdefault(one.verb_key, one)
    return tuple(found.values())


def plainly_reads(words: tuple[str, ...]) -> bool:
    """Tell whether a command's name plainly says that it only reads: `list`, `get-user`."""
    last = re.split(r"[-_:.]", words[-1].lower())
    if any(part in _CHANGES for word in words for part in re.split(r"[-_:.]", word.lower())):
        return False
    return last[0] in _READS if len(last) <= 2 else False


def _proposals(text: str, words: tuple[str, ...], below: Mapping[tuple[str, ...], str]) -> Iterator[Proposal]:
    for listed in listed_commands(text):
        path = (*words, listed.name)
        own = below.get(path)
        if own is not None and listed_commands(own):
            yield from _proposals(own, path, below)
            continue
        flag = json_flag(own) if own is not None else ()
        yield Proposal(
            verb_key=".".join(path).lower().replace(":", "."),
            words=path,
            summary=listed.summary,
            read=plainly_reads(path),
            arguments=tuple(one for one in arguments(own or "", path) if one.flag not in flag),
            json_flag=flag or None,
        )


def scaffold(
    program: str, help_text: str | None = None, below: Mapping[tuple[str, ...], str] | None = None
) -> dict[str, str] | Denial:
    """Return the files of a new pack around `program` (a name or path), path to text, or `usage`."""
    name = os.path.basename(program.strip())
    if not name or not name.isprintable() or any(char.isspace() for char in name) or name in (".", ".."):
        return deny("usage", what="name the program that the pack wraps, such as git")
    pack_id = slug(name)
    proposals = propose(help_text, below) if help_text is not None else ()
    flag = json_flag(help_text) if help_text is not None else ()
    if not proposals:
        proposals = (_version_only(),)
    return {
        "pack.yaml": _manifest(pack_id, name, proposals, flag),
        "SKILL.md": _skill(pack_id, name, proposals),
    }


def slug(name: str) -> str:
    """Return a pack id for a program's name."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    text = words if words[:1].isalpha() else f"pack-{words}".strip("-")
    text = f"{text}-pack" if text == BOOTSTRAP else text
    return text[:MAX_SLUG].rstrip("-")


def write_scaffold(folder: str, files: Mapping[str, str]) -> Denial | None:
    """Write a new pack folder; `exists`, with nothing written, where something is there. Raises `OSError`."""
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        return deny("exists", what=f"{folder} is there already", hint="choose another place: --dir DIR")
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(folder, name), "x", encoding="utf-8") as file:
            file.write(text)
    return None


def _version_only() -> Proposal:
    return Proposal("version", ("--version",), "Show the version", read=True, json_flag=())


def _manifest(pack_id: str, name: str, proposals: tuple[Proposal, ...], flag: tuple[str, ...]) -> str:
    parts = [
        "# What each key means: hcpx schema pack. Check it: hcpx pack lint .",
        "hcp: 1",
        f"id: {_key(pack_id)}",
        "version: 0.1.0",
        f"title: {_quoted(name)}",
        "kind: wrap",
        "wrap:",
        f"  bin: {_quoted(name)}",
        f"  json_flag: {_flag(flag)}  # what makes the program answer in JSON; null for nothing",
        "  # workspace: {mode: workspace}  # a folder of its own to write in; without, nothing can be written",
        "commands:",
        "  # What a command takes: a placeholder in cli, and under args what may stand there, such as",
        f"  #   cli: {_quoted([name, 'show', '--', '{{file}}'])}",
        "  #   args: {file: {type: string, description: The file to show}}",
        "  #   required: [file]",
        *(line for one in proposals for line in _command(name, one)),
        "policy:",
        *(f"  {_key(one.verb_key)}: {_row(one)}" for one in proposals),
        "skills: [SKILL.md]",
    ]
    return "\n".join(parts) + "\n"


def _command(name: str, one: Proposal) -> Iterator[str]:
    tokens = [name, *one.words]
    for argument in one.arguments:
        tokens += [argument.flag] if argument.flag is not None else []
        tokens.append("{{" + argument.name + "}}")
    yield f"  {_key(one.verb_key)}:"
    yield f"    summary: {_quoted(_plain(one.summary) or f'{name} {one.words[-1]}')}"
    yield f"    cli: {_quoted(tokens)}"
    if not one.arguments:
        yield "    args: {}"
    else:
        yield "    args:"
        for argument in one.arguments:
            yield f"      {_key(argument.name)}: {_quoted(_schema(argument))}"
        required = [argument.name for argument in one.arguments if argument.required]
        if required:
            yield f"    required: {_quoted(required)}"
    if one.json_flag is not None:
        yield f"    json_flag: {_flag(one.json_flag)}"
    if not one.read:
        yield "    mock: {ok: true}"


def _schema(argument: Argument) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    about = _plain(argument.about)
    if about:
        schema["description"] = about
    if _SECRET.search(argument.name):
        schema["x-secret"] = True
    return schema


def _row(one: Proposal) -> str:
    return "{operation: read}" if one.read else "{operation: write, confirm: true}"


def _flag(flag: tuple[str, ...]) -> str:
    if not flag:
        return "null"
    return _quoted(flag[0]) if len(flag) == 1 else _quoted(list(flag))


def _quoted(value: object) -> str:
    """Write a value as JSON, which is YAML; what YAML cannot hold was taken out before."""
    return json.dumps(value, ensure_ascii=False)


def _key(text: str) -> str:
    """Write a short name as YAML: bare where that is a text, else in quotes."""
    bare = re.fullmatch(r"[a-z_][a-z0-9_.-]*", text) is not None and text not in ("null", "true", "false")
    return text if bare else _quoted(text)


def _plain(text: str) -> str:
    """Return a text of a help page as it may stand in a manifest: one line, printable, no secret."""
    from .lint.secrets import secrets_in

    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return "" if next(secrets_in(line.encode("utf-8", "replace")), None) is not None else line


def _skill(pack_id: str, name: str, proposals: tuple[Proposal, ...]) -> str:
    reads = ", ".join(one.verb_key for one in proposals if one.read)
    writes = ", ".join(one.verb_key for one in proposals if not one.read)
    description = f"Runs {name} under Policy. Use it when {name} is the tool for the task."
    return "\n".join(
        [
            "---",
            f"name: {_key(pack_id)}",
            f"description: {_quoted(description)}",
            "---",
            f"# {name}",
            "",
            "Say here when to use it, what to look at first, and what to be careful with.",
            "",
            *([f"- These only read: {reads}."] if reads else []),
            *([f"- These change something and need `confirm: true`: {writes}."] if writes else []),
            "",
        ]
    )

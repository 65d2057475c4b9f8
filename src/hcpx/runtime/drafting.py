"""Packs before they are installed: lint of a folder, a new one around a program. No store is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hcpx.adapters.assembly import host_program
from hcpx.adapters.help_reader import HelpReader
from hcpx.packs.gate import lint
from hcpx.packs.help_text import listed_commands
from hcpx.packs.scaffold import scaffold, slug, write_scaffold
from hcpx.packs.schema import pack_schema_text
from hcpx.settings import Settings
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.finding import Finding
from hcpx.vocabulary.invocation import Cancel

__all__ = ["lint_alone", "new_pack", "pack_schema_text"]

_DEEPEST = 3


def lint_alone(folder: str) -> tuple[Finding, ...]:
    """Return what lint says of a folder where no other pack is known."""
    return lint(folder)


def new_pack(
    program: str, folder: str | None, settings: Settings, *, from_help: bool, deep: bool, cancel: Cancel
) -> tuple[str, Mapping[str, str]] | Denial:
    """Write a pack around a program and return its folder and files; `usage`, `not_found` or `exists` else.

    `from_help` runs `PROGRAM --help` and proposes its commands; `deep` asks every command that it lists, too.
    `folder` None means one of the pack's id, in the current directory. Raises `OSError`.
    """
    texts: dict[tuple[str, ...], str] = {}
    if from_help:
        found = _asked(program, settings, deep=deep, cancel=cancel)
        if isinstance(found, Denial):
            return found
        texts = found
    top = texts.pop((), None)
    files = scaffold(program, top, texts)
    if isinstance(files, Denial):
        return files
    place = folder if folder is not None else slug(os.path.basename(program.strip()))
    refused = write_scaffold(place, files)
    return (place, files) if refused is None else refused


def _asked(program: str, settings: Settings, *, deep: bool, cancel: Cancel) -> dict[tuple[str, ...], str] | Denial:
    # A path is the caller's own; a bare name is looked up where packs look it up.
    real = host_program(os.path.abspath(program) if "/" in program else program, settings.path)
    if real is None:
        return deny("not_found", what=f"no program {program!r} on the search path {settings.path}")
    texts: dict[tuple[str, ...], str] = {}
    with HelpReader(real, settings.path, settings.locale, cancel) as reader:
        waiting: list[tuple[str, ...]] = [()]
        for words in waiting:
            text = reader.text(words)
            if text is None or text in texts.values():
                # A program that answers every command with the same text knows no help of single commands.
                continue
            texts[words] = text
            if deep and len(words) < _DEEPEST:
                waiting += [(*words, one.name) for one in listed_commands(text)]
    if () not in texts:
        return deny("not_found", what=f"{program} --help printed nothing", hint="leave out --from-help")
    return texts

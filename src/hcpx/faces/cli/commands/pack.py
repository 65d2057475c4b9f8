"""`hcpx pack`: what is installed, and packs before they are (Spec 02 sections 3 and 6)."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from hcpx.faces.cli.answer import Answer, Stop, stop
from hcpx.faces.cli.interrupts import cancelling
from hcpx.faces.cli.kinds import Change, Command, Desk, Draft, OwnerRead, Read
from hcpx.runtime import Settings
from hcpx.runtime.view import View
from hcpx.vocabulary.denial import CATALOGUE, Denial, shell_quoted
from hcpx.vocabulary.finding import Finding, errors
from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.text import nearest

pack = click.Group("pack", help="Packs: what agents and people may run.")


@pack.command("add", cls=Change)
@click.argument("source", metavar="PATH|ARCHIVE|NAME")
@click.option("--link", is_flag=True, help="Use the folder in place, for development.")
@click.option("--replace", is_flag=True, help="Take it in the place of another version.")
def add(desk: Desk, source: str, *, link: bool, replace: bool) -> Answer:
    """Install a folder, an archive, or by its name a pack that comes with hcpx."""
    from hcpx.runtime.pack_desk import PackRefused

    added = desk.owner.packs.add(source, link=link, replace=replace)
    if isinstance(added, PackRefused):
        raise _refused(source, added.denial, added.findings)
    found = added.pack
    value = {
        "id": found.id,
        "version": found.version,
        "digest": found.digest,
        "linked": found.linked,
        "findings": _builtin(added.findings),
    }
    notes = tuple(str(one) for one in added.findings)
    return Answer(value, text=f"{found.id} {found.version} is installed; next: hcpx activate {found.id}", notes=notes)


@pack.command("list", cls=Read, empty={"packs": []})
def list_(view: View) -> Answer:
    """List installed packs."""
    rows = [msgspec.to_builtins(one) for one in view.packs()]
    return Answer({"packs": rows}, rows=rows)


@pack.command("show", cls=Read)
@click.argument("pack_id", metavar="PACK")
@click.argument("verb_key", metavar="[VERB]", required=False)
def show(view: View, pack_id: str, verb_key: str | None) -> Answer:
    """Show a pack: its commands and what each demands; with VERB one command and its args."""
    found = view.pack(pack_id)
    if isinstance(found, Denial):
        raise Stop(found)
    if verb_key is not None:
        return _command(view, found, verb_key)
    commands = [
        {
            "verb_key": key,
            "summary": command.summary,
            "operation": view.row(found, key).operation,
            "confirm": view.row(found, key).confirm,
            "approvals": view.row(found, key).approvals,
            "binding": view.row(found, key).binding,
        }
        for key, command in found.commands.items()
        if key in found.policy
    ]
    value = {
        "id": found.id,
        "version": found.version,
        "title": found.title,
        "kind": found.kind,
        "description": found.description,
        "digest": found.digest,
        "linked": found.linked,
        "activated": found.id in view.session.activations,
        "commands": commands,
    }
    return Answer(value, text=f"{found.id} {found.version}: {found.title}", rows=commands)


@pack.command("lint", cls=Command)
@click.argument("folder", metavar="PATH")
def lint(folder: str) -> Answer:
    """Say what is wrong with a pack, where, and how to mend it.

    The folder is judged by itself: what a composite does in other packs gives warnings.
    """
    from hcpx.runtime.drafting import lint_alone

    findings = lint_alone(folder)
    bad = errors(findings)
    text = _lines(findings) + _count(folder, findings)
    value = {"findings": _builtin(findings)}
    if not bad:
        return Answer(value, text=text)
    failed = {"code": "lint_failed", "error": _count(folder, findings)}
    return Answer(failed | value, text=text, status=CATALOGUE["lint_failed"].exit or 1)


@pack.command("new", cls=Draft)
@click.argument("program", metavar="PROGRAM")
@click.option("--from-help", is_flag=True, help="Run PROGRAM --help and propose its commands.")
@click.option("--deep", is_flag=True, help="With --from-help: ask every command for its --help, too.")
@click.option("--dir", "folder", metavar="DIR", help="Where to write it, by default a folder of the pack's id.")
def new(settings: Settings, program: str, folder: str | None, *, from_help: bool, deep: bool) -> Answer:
    """Write a new pack around a program of this host."""
    if deep and not from_help:
        raise stop("usage", what="--deep goes with --from-help", hint="hcpx pack new --help")
    from hcpx.runtime.drafting import new_pack

    with cancelling() as cancel:
        found = new_pack(program, folder, settings, from_help=from_help, deep=deep, cancel=cancel)
    if isinstance(found, Denial):
        raise Stop(found)
    place, files = found
    text = f"wrote {place}: {' '.join(files)}\n"
    if "/" in program:
        text += f"next: cp {shell_quoted(program)} {shell_quoted(place)}/, so that the program is the pack's own\n"
    text += f"next: hcpx pack lint {shell_quoted(place)}"
    return Answer({"folder": place, "files": sorted(files)}, text=text)


@pack.command("remove", cls=Change)
@click.argument("pack_id", metavar="PACK")
def remove(desk: Desk, pack_id: str) -> Answer:
    """Take a pack out; what runs on it goes on."""
    desk.question.settle(f"Remove {pack_id}?")
    desk.owner.packs.remove(pack_id)
    return Answer({"id": pack_id}, text=f"{pack_id} is removed")


@pack.command("diff", cls=OwnerRead)
@click.argument("pack_id", metavar="PACK")
@click.option("--on", "session_id", metavar="SESSION", help="A session's id, by default the owner's own.")
def diff(desk: Desk, pack_id: str, session_id: str | None) -> Answer:
    """Say what activating the pack would ask for, or what changed since it was activated."""
    found = desk.owner.packs.asked(pack_id, session_id)
    text = "\n".join(one.text for one in found) or "nothing has changed"
    return Answer({"pack_id": pack_id, "changes": [msgspec.to_builtins(one) for one in found]}, text=text)


def _command(view: View, pack: Pack, verb_key: str) -> Answer:
    from hcpx.faces.cli.command_card import args, card, heading

    command = pack.commands.get(verb_key)
    if command is None or verb_key not in pack.policy:
        near = nearest(verb_key, tuple(pack.commands))
        meant = f"hcpx pack show {pack.id} {near}" if near is not None else None
        raise stop("no_policy", verb_key=verb_key, pack_id=pack.id, hint=meant)
    row = view.row(pack, verb_key)
    rows = args(command)
    about = heading(pack.id, command, row)
    return Answer(card(pack.id, command, row), text=f"{about}\n" if rows else about, rows=rows or None)


def _refused(source: str, denial: Denial, findings: Sequence[Finding]) -> Stop:
    if findings:
        hint = f"hcpx pack lint {shell_quoted(source)}" if denial.code == "lint_failed" else denial.hint
        denial = msgspec.structs.replace(denial, hint=hint)
    return Stop(denial, {"findings": _builtin(findings)} if findings else {}, _lines(findings))


def _lines(findings: Sequence[Finding]) -> str:
    return "".join(f"{one}\n" for one in findings)


def _count(folder: str, findings: Sequence[Finding]) -> str:
    bad = len([one for one in findings if one.severity == "error"])
    return f"{folder}: {bad} error(s), {len(findings) - bad} warning(s)"


def _builtin(findings: Sequence[Finding]) -> list[object]:
    return [msgspec.to_builtins(one) for one in findings]

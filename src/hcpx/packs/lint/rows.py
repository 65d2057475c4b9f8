"""Rules about Policy rows: every command has one, and it means what it says (Spec 02 section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hcpx.vocabulary.pack import BOOTSTRAP
from hcpx.vocabulary.text import nearest

from .rule import Draft, Hit, Rule


def _command_without_row(draft: Draft) -> Iterator[Hit]:
    for verb_key in draft.pack.commands:
        if verb_key not in draft.pack.policy:
            yield Hit(f"the command {verb_key} has no Policy row", ("commands", verb_key))


def _row_without_command(draft: Draft) -> Iterator[Hit]:
    commands = tuple(draft.pack.commands)
    for verb_key in draft.pack.policy:
        if verb_key not in draft.pack.commands:
            near = nearest(verb_key, commands)
            mend = f"did you mean {near}?" if near else None
            yield Hit(f"there is no command {verb_key} for this row", ("policy", verb_key), mend)


def _confirm_unsaid(draft: Draft) -> Iterator[Hit]:
    for verb_key, row in draft.pack.policy.items():
        if row.operation == "write" and "confirm" not in draft.body("policy", verb_key):
            yield Hit(f"the write row of {verb_key} does not say confirm", ("policy", verb_key))


def _land_local_in_pack(draft: Draft) -> Iterator[Hit]:
    wrap = draft.pack.wrap
    if wrap is None or wrap.workspace != "pack":
        return
    for verb_key, row in draft.pack.policy.items():
        if row.land == "local":
            yield Hit(
                f"{verb_key} lands local, but runs in the pack's own directory",
                ("policy", verb_key, "privacy", "land"),
            )


def _reserved_id(draft: Draft) -> Iterator[Hit]:
    if draft.pack.id == BOOTSTRAP and not draft.packaged:
        yield Hit(f"the id {BOOTSTRAP} is the bootstrap pack's", ("id",))


def _bad_probe(draft: Draft) -> Iterator[Hit]:
    for key, probe in draft.pack.sense.items():
        row = draft.pack.policy.get(probe.command)
        path = ("sense", key, "command")
        if probe.command not in draft.pack.commands or row is None:
            yield Hit(f"sense.{key} asks the command {probe.command}, which the pack does not have", path)
        elif row.operation != "read" or row.confirm or row.approvals:
            yield Hit(f"sense.{key} asks {probe.command}, which is no read that runs unasked", path)
        elif row.binding == "user":
            yield Hit(f"sense.{key} asks {probe.command}, whose binding is a user's own", path)


RULES: Final = (
    Rule(
        code="command_without_row",
        severity="error",
        demand="Every command has a Policy row.",
        mend="add the row under policy",
        check=_command_without_row,
        refused=("policy: {}",),
        fine=("commands: {}\npolicy: {}",),
    ),
    Rule(
        code="row_without_command",
        severity="error",
        demand="Every Policy row is for a command of the pack.",
        mend="remove the row, or add the command",
        check=_row_without_command,
        refused=("policy: {look: {operation: read}, lok: {operation: read}}",),
        fine=("{}",),
    ),
    Rule(
        code="confirm_unsaid",
        severity="error",
        demand="A write row says confirm, true or false.",
        mend="add confirm: true; or confirm: false where a run can do no harm",
        check=_confirm_unsaid,
        refused=("policy: {look: {operation: write}}",),
        fine=("policy: {look: {operation: write, confirm: false}}", "policy: {look: {operation: connect}}"),
    ),
    Rule(
        code="land_local_in_pack",
        severity="error",
        demand="A command that lands local does not run in the pack's own directory, which is read-only.",
        mend="set wrap.workspace.mode to project, workspace or ephemeral, or take privacy out",
        check=_land_local_in_pack,
        refused=("policy: {look: {operation: read, privacy: {land: local}}}",),
        fine=(
            (
                "wrap: {bin: bin/tool, workspace: {mode: project}}\n"
                "policy: {look: {operation: read, privacy: {land: local}}}"
            ),
        ),
    ),
    Rule(
        code="reserved_id",
        severity="error",
        demand="The id hcp-cli is the bootstrap pack's.",
        mend="choose another id",
        check=_reserved_id,
        refused=("id: hcp-cli",),
        fine=("id: hcp-cli2",),
    ),
    Rule(
        code="bad_probe",
        severity="error",
        demand="A sense probe asks a read command of the pack that runs unasked and has no user's binding.",
        mend="name a read command with binding public, local or mothership, without confirm and approvals",
        check=_bad_probe,
        refused=(
            "sense: {unread: {command: looks, every_s: 60}}",
            "sense: {x: {command: look, every_s: 60}}\npolicy: {look: {operation: write, confirm: false}}",
            "sense: {unread: {command: look, every_s: 60}}\npolicy: {look: {operation: read, confirm: true}}",
            (
                "sense: {unread: {command: look, every_s: 60}}\n"
                "binding: {env: {TOKEN: '{{secret}}'}}\npolicy: {look: {operation: read, binding: user}}"
            ),
        ),
        fine=("sense: {unread: {command: look, every_s: 60}}",),
    ),
)

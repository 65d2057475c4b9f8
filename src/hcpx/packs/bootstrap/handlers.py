"""What the bootstrap pack's reading commands answer (Spec 02 section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from hcpx.vocabulary.denial import Denial, hint_for
from hcpx.vocabulary.invocation import Invocation
from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.policy import PolicyRow
from hcpx.vocabulary.principal import Session

from .deferred import LINES, deferred, text_arg

Handler = Callable[[Invocation], object]
"""Takes the invocation, returns a JSON value, or a Denial."""


class PackTitle(msgspec.Struct, frozen=True):
    """An installed pack that a session has not activated: its id and title, and no more."""

    id: str
    title: str


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One finding of doctor; `fix` is the one command or sentence that would mend it."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None


class Desk(Protocol):
    """What the handlers ask the runtime: all of it reads."""

    def installed(self, tenant: str) -> Sequence[PackTitle]:
        """Return every installed pack of the tenant."""
        ...

    def active(self, session: Session) -> Sequence[Pack]:
        """Return the packs active on the session and unchanged, by id, the bootstrap pack among them."""
        ...

    def row(self, session: Session, pack: Pack, verb_key: str) -> PolicyRow:
        """Return the effective row of a command."""
        ...

    def outlook(self, session: Session, pack_id: str, verb_key: str) -> Denial | None:
        """Say what a call with good args, confirm and its approvals would be denied with."""
        ...

    def binding_state(self, session: Session, pack: Pack, row: PolicyRow) -> str:
        """Return `none`, `fresh`, `expiring`, `stale` or `missing`."""
        ...

    def skills(self, session: Session, pack_id: str | None) -> Sequence[Mapping[str, object]] | Denial:
        """Return the leads of one pack, or of every active one."""
        ...

    def skill_text(self, session: Session, pack_id: str, name: str, file: str | None) -> str | Denial:
        """Return the full text of a Skill, or of a file beside it."""
        ...

    def checks(self) -> Sequence[Check]:
        """Look at store, audit chain, sandbox, vault, search path and clock."""
        ...


def handlers(desk: Desk) -> dict[str, Handler]:
    """Return the handler of every command of the bootstrap pack, by verb_key."""
    reads: dict[str, Handler] = {
        "hcp.list": lambda call: _list(desk, call.session),
        "hcp.availability": lambda call: _availability(desk, call),
        "hcp.skill": lambda call: _skill(desk, call),
        "hcp.doctor": lambda call: _doctor(desk, call.session),
    }
    return reads | dict.fromkeys(LINES, deferred)


def _list(desk: Desk, session: Session) -> object:
    active = {pack.id: pack for pack in desk.active(session)}
    titles = {title.id: title for title in desk.installed(session.tenant)}
    packs: list[dict[str, object]] = []
    for pack_id in sorted({*active, *titles}):
        pack = active.get(pack_id)
        if pack is None:
            packs.append({"id": pack_id, "title": titles[pack_id].title, "activated": False})
            continue
        commands = [_listed(pack, desk.row(session, pack, verb_key), verb_key) for verb_key in pack.commands]
        head: dict[str, object] = {
            "id": pack.id,
            "version": pack.version,
            "title": pack.title,
            "kind": pack.kind,
        }
        packs.append(head | {"activated": True, "commands": commands})
    return {"packs": packs}


def _listed(pack: Pack, row: PolicyRow, verb_key: str) -> dict[str, object]:
    return {
        "verb_key": verb_key,
        "summary": pack.commands[verb_key].summary,
        "operation": row.operation,
        "confirm": row.confirm,
        "approvals": row.approvals,
    }


def _availability(desk: Desk, call: Invocation) -> object:
    session = call.session
    wanted, verb = text_arg(call, "pack"), text_arg(call, "verb_key")
    active = {pack.id: pack for pack in desk.active(session)}
    if wanted is not None and (wanted not in active or (verb is not None and verb not in active[wanted].commands)):
        return {"commands": [_outlook(session, wanted, verb, desk.outlook(session, wanted, verb or ""))]}
    return {
        "commands": [
            _command(desk, session, pack, verb_key)
            for pack in active.values()
            for verb_key in pack.commands
            if wanted in (None, pack.id) and verb in (None, verb_key)
        ]
    }


def _command(desk: Desk, session: Session, pack: Pack, verb_key: str) -> dict[str, object]:
    row = desk.row(session, pack, verb_key)
    found = _outlook(session, pack.id, verb_key, desk.outlook(session, pack.id, verb_key))
    if found["available"] and row.approvals:
        found["hint"] = f"needs {row.approvals} approval(s) by others: call it, and the answer names the request"
    elif found["available"] and row.confirm:
        found["hint"] = 'needs "confirm": true in args, once it is agreed'
    return found | {
        "confirm": row.confirm,
        "approvals": row.approvals,
        "binding": {"family": row.binding, "state": desk.binding_state(session, pack, row)},
    }


def _outlook(session: Session, pack_id: str, verb_key: str | None, denial: Denial | None) -> dict[str, object]:
    found: dict[str, object] = {"pack_id": pack_id}
    if verb_key is not None:
        found["verb_key"] = verb_key
    found["available"] = denial is None
    if denial is not None:
        found |= {"code": denial.code, "error": denial.error}
        hint = hint_for(session.actor, denial.hint)
        if hint is not None:
            found["hint"] = hint
    return found


def _skill(desk: Desk, call: Invocation) -> object:
    pack_id, name, file = (text_arg(call, key) for key in ("pack", "name", "file"))
    if pack_id is None or name is None or (file is None and call.envelope.args.get("full") is not True):
        leads = desk.skills(call.session, pack_id)
        if isinstance(leads, Denial):
            return leads
        return {"skills": [lead for lead in leads if name in (None, lead["name"])]}
    text = desk.skill_text(call.session, pack_id, name, file)
    if isinstance(text, Denial):
        return text
    place = {"file": file} if file is not None else {}
    return {"pack": pack_id, "name": name} | place | {"text": text}


def _doctor(desk: Desk, session: Session) -> object:
    checks = [msgspec.structs.replace(one, fix=hint_for(session.actor, one.fix)) for one in desk.checks()]
    return {
        "ok": all(check.ok for check in checks),
        "checks": [msgspec.to_builtins(check) for check in checks],
    }

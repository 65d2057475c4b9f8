"""`hcpx availability`, `skill`, `doctor`: asked of the bootstrap pack by an envelope (Spec 02 section 5)."""

from __future__ import annotations

from typing import Any, cast

import click

from hcpx.faces.cli.answer import Answer, Stop, stop
from hcpx.faces.cli.kinds import InSession, Question, opened, session_of
from hcpx.runtime import StoreMissing, StoreUnavailable
from hcpx.runtime.doctor import without_store
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.pack import BOOTSTRAP

Found = dict[str, Any]
_NOT_WELL = 1


class Asked:
    """Asks the bootstrap pack in the session that is given."""

    def __init__(self, token: str | None) -> None:
        self.token = token

    def ask(self, verb_key: str, /, **args: object) -> Found:
        """Send the envelope and return its result; a denial ends the command."""
        given = {name: value for name, value in args.items() if value not in (None, False)}
        envelope = {"pack_id": BOOTSTRAP, "verb_key": verb_key, "args": given}
        try:
            with opened() as runtime:
                result = runtime.execute(envelope, token=self.token, face="human")
        except StoreMissing:
            if self.token is not None:
                raise stop("unauthenticated") from None
            raise
        if not result.ok:
            hint = result.hint if isinstance(result.hint, str) else None
            raise Stop(Denial(str(result.code), 0, str(result.error), hint), result.to_dict())
        return cast("Found", result.result)


class _Asking(InSession):
    def answer(self, given: dict[str, Any], question: Question) -> Answer | None:
        return self._call(Asked(session_of(given, question.settings)), **given)


@click.command("availability", cls=_Asking)
@click.argument("pack", metavar="[PACK]", required=False)
@click.argument("verb_key", metavar="[VERB]", required=False)
def availability(asked: Asked, pack: str | None, verb_key: str | None) -> Answer:
    """Say of each command whether it would run now, and what to do where not."""
    try:
        found = asked.ask("hcp.availability", pack=pack, verb_key=verb_key)
    except StoreMissing as missing:
        return Answer({"commands": []}, text="nothing", notes=(str(missing),))
    return Answer(found, rows=[_outlook(one) for one in found["commands"] if pack or one["pack_id"] != BOOTSTRAP])


def _outlook(one: Found) -> Found:
    binding = one.get("binding", {"family": "", "state": ""})
    approvals = one.get("approvals", 0)
    needs = ["confirm"] * bool(one.get("confirm")) + [f"{approvals} approval(s)"] * bool(approvals)
    credential = "" if binding["family"] in ("", "public") else f"{binding['family']}: {binding['state']}"
    return {
        "pack": one["pack_id"],
        "command": one.get("verb_key", ""),
        "available": "yes" if one["available"] else one["code"],
        "needs": " ".join(needs),
        "credential": credential,
        "next": "" if one["available"] else one.get("hint", ""),
    }


@click.command("skill", cls=_Asking)
@click.argument("pack", metavar="[PACK]", required=False)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--full", is_flag=True, help="The whole text; the default where a name is given.")
@click.option("--file", metavar="PATH", help="A file beside the Skill.")
def skill(asked: Asked, pack: str | None, name: str | None, file: str | None, *, full: bool) -> Answer:
    """Show what packs say about their use: leads, or with a name the whole text."""
    if name is None and (full or file is not None):
        raise stop("usage", what="which Skill? name it behind its pack", hint="hcpx skill")
    try:
        found = asked.ask("hcp.skill", pack=pack, name=name, full=name is not None and file is None, file=file)
    except StoreMissing as missing:
        return Answer({"skills": []}, text="nothing", notes=(str(missing),))
    if "text" in found:
        return Answer(found, text=str(found["text"]))
    return Answer(found, rows=found["skills"])


@click.command("doctor", cls=_Asking)
def doctor(asked: Asked) -> Answer:
    """Check store, audit chain, sandbox, vault, search path and clock."""
    try:
        found = asked.ask("hcp.doctor")
    except StoreUnavailable as trouble:
        if asked.token is not None:
            raise
        found: Found = without_store(missing=isinstance(trouble, StoreMissing), why=str(trouble))
    checks = cast("list[Found]", found["checks"])
    rows = [
        {
            "check": one["name"],
            "ok": "yes" if one["ok"] else "NO",
            "detail": one["detail"],
            "fix": one.get("fix") or "",
        }
        for one in checks
    ]
    return Answer({"checks": checks}, rows=rows, status=0 if found["ok"] else _NOT_WELL)

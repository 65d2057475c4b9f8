"""Group F: allow-list, approvals, grants, ids, the gate (Spec 01 sections 2 and 3, Spec 02 section 2)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hcpx.store.errors import Refused
from hcpx.vocabulary.capability import Grant
from tests.field_troubles.site import READ, TICK, WRITE, Site, ledger

GIT: dict[str, Any] = {"show": ["git", "show"]}
TICKS: dict[str, Any] = {
    "commands": {"tick": ["ledger", "tick"]},
    "policy": {"tick": {"operation": "write", "confirm": True}},
}


def test_f1_an_allowed_name_never_lets_a_packs_own_file_through(site: Site) -> None:
    """The host's git is allowed; the file of that name in a pack is that pack's own, or nobody's."""
    site.owner.allow("git" if os.path.exists("/usr/bin/git") else "sh")
    own = "#!/bin/sh\necho mine >>started\necho '{\"mine\":true}'\n"
    site.install("forge", {"git": own, "sub/git": own}, wrap={"bin": "./git"}, commands=GIT)
    assert site.call("forge", "show").result == {"mine": True}
    site.install("deeper", {"sub/git": own}, wrap={"bin": "sub/git"}, commands=GIT)
    assert site.call("deeper", "show").result == {"mine": True}


@pytest.mark.parametrize("name", ["../git", "sub/../../git", "git ", " git", "./../git", "env ", "ENV", "en"])
def test_f1_what_is_not_exactly_allowed_is_never_started(site: Site, name: str) -> None:
    site.owner.allow("env")
    place = site.write("forge", {"bin/run": "#!/bin/sh\n", "git": TICK}, wrap={"bin": name}, commands=GIT)
    (place.parent / "git").write_text(TICK)
    (place.parent / "git").chmod(0o755)
    added = site.owner.packs._installer.add(site.owner.tenant, str(place), judged=False)
    assert added.pack.id == "forge", added
    site.owner.sessions.activate(site.owner.session.id, "forge", site.owner.packs.show("forge").digest)
    site.owner.grant(site.owner.session.principal, Grant(READ, "forge", ("*",)))
    result = site.call("forge", "show")
    assert (result.ok, result.error) == (False, f'sandbox: bin "{name}" not allowlisted')
    assert (result.code, result.step, result.exit_code) == ("not_allowlisted", 6, 127)
    assert site.started() == 0


def wired(site: Site) -> tuple[str, str, str]:
    """A ledger whose transfers want one approval; the tokens of two callers and of an approver."""
    ledger(site, policy={"transfer": {"operation": "write", "confirm": True, "approvals": 1}})
    rights = (WRITE, "ledger", ["transfer"])
    judge = site.person("user:judge", ("verb.approve", "ledger", ["*"]))
    return site.person("user:p-1", rights), site.person("user:p-2", rights), judge


def approve(site: Site, token: str, approval_id: str) -> Any:
    return site.runtime.books.decide(site.runtime.session(token), approval_id, "approve")


SHOWN = {"amount": "10.00", "payee": "demo", "confirm": True}


def test_f2_an_approval_serves_exactly_what_was_shown_and_once(site: Site) -> None:
    one, two, judge = wired(site)
    asked = site.call("ledger", "transfer", SHOWN, token=one)
    assert (asked.error, asked.code, site.started()) == ("approval required", "approval_required", 0)
    assert approve(site, judge, asked.approval.id).id == asked.approval.id

    other_amount = site.call("ledger", "transfer", SHOWN | {"amount": "1000.00"}, token=one)
    other_caller = site.call("ledger", "transfer", SHOWN, token=two)
    assert [other_amount.code, other_caller.code, site.started()] == ["approval_required"] * 2 + [0]
    served = site.call("ledger", "transfer", SHOWN, token=one)
    assert (served.ok, site.started()) == (True, 1)
    again = site.call("ledger", "transfer", SHOWN, token=one)
    assert (again.code, site.started()) == ("approval_required", 1)
    assert len({asked.approval.id, other_amount.approval.id, other_caller.approval.id, again.approval.id}) == 4


def test_f2_an_approval_dies_with_the_pack_that_it_was_given_for(site: Site) -> None:
    one, _, judge = wired(site)
    asked = site.call("ledger", "transfer", SHOWN, token=one)
    approve(site, judge, asked.approval.id)
    ledger_again: dict[str, Any] = {
        "commands": {"transfer": ["ledger", "transfer", "{{amount}}", "--to", "{{payee}}", "--all"]},
        "policy": {"transfer": {"operation": "write", "confirm": True, "approvals": 1}},
    }
    place = site.write("ledger", **ledger_again)
    site.owner.packs.add(str(place), replace=True)
    assert site.call("ledger", "transfer", SHOWN, token=one).code == "pack_changed"
    session: Any = site.runtime.session(one)
    site.owner.packs.activate("ledger", session.id)
    result = site.call("ledger", "transfer", SHOWN, token=one)
    assert (result.code, result.approval.id != asked.approval.id, site.started()) == ("approval_required", True, 0)


def test_f2_an_approvers_right_is_looked_at_again_when_it_is_used(site: Site) -> None:
    one, _, judge = wired(site)
    asked = site.call("ledger", "transfer", SHOWN, token=one)
    approve(site, judge, asked.approval.id)
    site.owner.grants.revoke(site.owner.tenant, "user:judge", Grant("verb.approve", "ledger", ("*",)))
    assert site.call("ledger", "transfer", SHOWN, token=one).code == "approval_required"
    assert site.started() == 0


def test_f3_a_grant_covers_exact_names_only(site: Site) -> None:
    for pack_id in ("ledger", "ledger-admin", "myledger"):
        verbs = {"balance": [pack_id, "b"], "balance2": [pack_id, "b"], "x.balance": [pack_id, "b"]}
        site.install(pack_id, commands=verbs)
    token = site.person("user:p-1", (READ, "ledger", ["balance"]))
    asked = [("ledger-admin", "balance"), ("myledger", "balance"), ("ledger", "balance2"), ("ledger", "x.balance")]
    for pack_id, verb in asked:
        result = site.call(pack_id, verb, token=token)
        assert result.error == f"denied: missing verb.exec.read for {pack_id}.{verb}"
    assert site.started() == 0
    assert site.call("ledger", "balance", token=token).ok


@pytest.mark.parametrize(
    ("pack_id", "verbs"),
    [("ledger", ("bal*",)), ("ledger", ("balance", "x.*")), ("led*", ("balance",)), ("*ger", ("*",)), ("", ("*",))],
    ids=str,
)
def test_f3_a_grant_written_as_a_pattern_is_refused_when_it_is_stored(
    site: Site, pack_id: str, verbs: tuple[str, ...]
) -> None:
    with pytest.raises(Refused):
        site.owner.grant("user:p-1", Grant(READ, pack_id, verbs))
    assert list(site.owner.grants.list(site.owner.tenant, "user:p-1")) == []


_opened: list[str] | None = None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None and isinstance(args[0], (str, bytes)):
        _opened.append(os.fsdecode(args[0]))


sys.addaudithook(_hook)


@contextmanager
def opened_files() -> Generator[list[str]]:
    """Every file that Python opens meanwhile."""
    global _opened  # noqa: PLW0603 -- an audit hook cannot be taken back, only silenced
    _opened = found = []
    try:
        yield found
    finally:
        _opened = None


@pytest.mark.parametrize("pack_id", ["../ledger", "ledger/../ledger", "..", ".", "", "/etc", "ledger\n", "ledger "])
def test_f4_an_id_that_walks_the_file_tree_is_an_unknown_pack(site: Site, pack_id: str) -> None:
    ledger(site)
    with opened_files() as opened:
        result = site.call(pack_id, "balance")
    shown = pack_id.replace("\n", "\\u{000A}")
    assert (result.ok, result.error, result.step) == (False, f"unknown pack {shown}", 1)
    home = Path(site.home)
    assert [path for path in opened if not Path(path).is_relative_to(home)] == []
    assert [path for path in opened if ".." in path] == []


@pytest.mark.parametrize("pack_id", ["ledger\0", "l" * 300])
def test_f4_an_id_that_is_no_id_is_no_envelope(site: Site, pack_id: str) -> None:
    result = site.hcp().exec({"pack_id": pack_id, "verb_key": "balance"})
    assert (result.ok, result.code, result.step) == (False, "invalid_envelope", 1)


def test_f4_nothing_tells_an_existing_target_from_a_missing_one(site: Site) -> None:
    ledger(site)
    (site.home / "ledger").mkdir()

    def told(pack_id: str) -> Any:
        result = json.loads(site.call(pack_id, "balance").to_json())
        return {name: result[name] for name in result if name not in ("audit_id", "duration_ms", "pack_id")}

    there, missing = told("../home"), told("../nome")
    assert {**there, "error": ""} == {**missing, "error": ""}


@pytest.mark.parametrize("name", ["../pack.yaml", "..", "/etc/passwd", "ledger/../ledger", "l" * 300, "SKILL.md\0"])
def test_f4_a_skill_is_no_way_to_other_files(site: Site, name: str) -> None:
    ledger(site)
    with opened_files() as opened:
        for args in ({"pack": "ledger", "name": name, "full": True}, {"pack": name, "name": "ledger", "full": True}):
            assert not site.call("hcp-cli", "hcp.skill", args).ok
        assert not site.call("hcp-cli", "hcp.skill", {"pack": "ledger", "name": "ledger", "file": name}).ok
    assert [path for path in opened if path.startswith("/etc") or path.endswith("pack.yaml")] == []


def test_f5_two_names_for_one_field_must_agree(site: Site) -> None:
    ledger(site)
    site.install("notes", commands={"balance": ["notes", "balance"]})
    body = {"verb_key": "balance", "args": {}}
    differing = site.faces(json.dumps({"pack_id": "notes", "surface_id": "ledger"} | body))
    for result in differing.values():
        assert result["error"] == "invalid envelope: pack_id and surface_id differ"
        assert result["code"] == "invalid_envelope"
    assert site.started() == 0
    for named in ({"surface_id": "ledger"}, {"surface_id": "ledger", "pack_id": "ledger"}):
        result = site.hcp().exec(named | body)
        assert (result.ok, result.pack_id) == (True, "ledger")


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_f6_nothing_runs_before_the_confirmation_and_once_after_it(site: Site, face: str) -> None:
    site.install("ledger", TICK, **TICKS, binding={"env": {"T": "{{access_token}}"}})

    def call(args: dict[str, Any]) -> Any:
        text = json.dumps({"pack_id": "ledger", "verb_key": "tick", "args": args})
        if face == "sdk":
            return json.loads(site.hcp().exec(text).to_json())
        return site.cli("exec", "-", "--json", stdin=text.encode()).body

    first = call({})
    assert (first["ok"], first["error"], site.started()) == (False, "confirm required", 0)
    assert site.audited(first)["credential_id"] is None
    assert (call({"confirm": True})["ok"], site.started()) == (True, 1)

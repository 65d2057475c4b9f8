"""What changes while a call is on its way, and who may learn of whom."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hcpx import __main__
from hcpx.store.session_rows import NewSession
from hcpx.vocabulary.capability import Grant
from tests.field_troubles.site import READ, WRITE, Site

WAITS = '#!/bin/sh\necho up\nwhile [ ! -e go ]; do sleep 0.02; done\necho "$1 one"\n'
SEES: dict[str, Any] = {"wrap": {"json_flag": None}, "commands": {"see": ["pad", "see"]}}


def meanwhile(site: Site, act: Callable[[], None]) -> Callable[[str, bytes], None]:
    """Do something once the waiting program is up, then let it go on."""

    def output(_name: str, data: bytes) -> None:
        if data == b"up\n":
            act()
            for place in site.home.glob("state/workspaces/*"):
                (place / "go").touch()

    return output


def test_a_program_that_was_edited_between_two_steps_is_not_started(site: Site) -> None:
    site.install("pad", WAITS, **SEES)
    place = site.install("fast", "#!/bin/sh\necho fast\n", link=True, commands={"go": ["fast", "go"]})
    steps = [{"name": "a", "pack_id": "pad", "verb_key": "see"}, {"name": "b", "pack_id": "fast", "verb_key": "go"}]
    flow = site.folder / "packs" / "flow"
    flow.mkdir()
    manifest = {
        "hcp": 1,
        "id": "flow",
        "version": "1.0.0",
        "title": "Flow",
        "kind": "composite",
        "commands": {"go": {"summary": "s", "steps": steps}},
        "policy": {"go": {"operation": "read"}},
    }
    (flow / "pack.yaml").write_text(json.dumps(manifest))
    site.owner.packs.add(str(flow))
    site.owner.packs.activate("flow")

    def edit() -> None:
        (place / "bin" / "run").write_text(f'#!/bin/sh\n: >"{site.folder}/edited"\n')

    result = site.call("flow", "go", on_output=meanwhile(site, edit))
    assert (result.code, result.error) == ("step_failed", "step b: pack fast changed since activation")
    assert not (site.folder / "edited").exists()


def test_a_pack_that_is_replaced_and_removed_goes_on_for_what_runs(site: Site) -> None:
    place = site.install("pad", WAITS, **SEES)

    def replace() -> None:
        site.write("pad", "#!/bin/sh\necho two\n", **SEES)
        site.owner.packs.add(str(place), replace=True)
        site.owner.packs.remove("pad")
        shutil.rmtree(place)

    result = site.call("pad", "see", on_output=meanwhile(site, replace))
    assert (result.ok, result.stdout) == (True, "up\nsee one\n")
    assert site.call("pad", "see").code == "unknown_pack"


def test_rights_that_are_taken_back_hold_from_the_next_call_on(site: Site) -> None:
    site.install("pad", WAITS, **SEES)
    token = site.person("user:p-1", (READ, "pad", ["*"]))

    def take_back() -> None:
        site.owner.grants.revoke(site.owner.tenant, "user:p-1", Grant(READ, "pad", ("*",)))

    assert site.call("pad", "see", token=token, on_output=meanwhile(site, take_back)).ok
    assert site.call("pad", "see", token=token).code == "denied"


def test_two_sessions_of_one_principal_have_their_own_activations_and_ends(site: Site) -> None:
    site.install("depot", commands={"run": ["depot", "run"]})
    one, two = (site.person("user:p-1", *grants) for grants in ([(READ, "depot", ["*"])], []))
    first: Any = site.runtime.session(one)
    site.owner.sessions.deactivate(first.id, "depot")
    assert site.call("depot", "run", token=one).code == "pack_not_activated"
    assert site.call("depot", "run", token=two).ok
    site.owner.sessions.revoke(first.id)
    assert site.call("depot", "run", token=one).code == "unauthenticated"
    assert site.call("depot", "run", token=two).ok
    site.owner.principals.disable(site.owner.tenant, "user:p-1")
    assert site.call("depot", "run", token=two).code == "unauthenticated"


class Neighbours:
    """A tenant with something to hide, and the ids of it; a stranger of another tenant who may do everything there."""

    def __init__(self, site: Site) -> None:
        project = site.folder / "project"
        project.mkdir()
        site.owner.projects.add(site.owner.tenant, "p1", str(project))
        site.install(
            "pad",
            binding={"env": {"T": "{{access_token}}"}},
            commands={"wire": ["pad", "{{n}}"], "note": ["pad", "{{n}}"]},
            policy={
                "wire": {"operation": "write", "confirm": True, "approvals": 1},
                "note": {"operation": "read", "binding": "user", "privacy": {"land": "brain"}},
            },
        )
        mine = site.person("user:p-1", (READ, "pad", ["*"]), (WRITE, "pad", ["*"]), project="p1")
        site.owner.bindings.connect("pad", "canary-secret", principal="user:p-1")
        note = site.call("pad", "note", {"n": "canary-note"}, token=mine)
        asked = site.call("pad", "wire", {"n": "canary-wire", "confirm": True}, token=mine)
        session: Any = site.runtime.session(mine)
        assert (note.ok, asked.code) == (True, "approval_required")
        self.ids = {"call": note.audit_id, "approval": asked.approval.id, "session": session.id}
        every = ("verb.exec.read", "verb.exec.write", "pack.connect", "verb.approve", "audit.read")
        for capability in every:
            site.owner.grant("user:p-1", Grant(capability, "*", ("*",)), "other")
        self.stranger, _ = site.owner.sessions.new(NewSession("other", "user:p-1"))


TRIES = {
    "audit list": (), "audit show": ("call",), "audit export": (), "audit verify": (), "approvals list": (),
    "approvals show": ("approval",), "approvals approve": ("approval",), "approvals deny": ("approval",),
    "brain list": (), "brain show": ("call",), "grants": (), "session list": (), "session show": ("session",),
    "session revoke": ("session",), "principal list": (), "project list": (), "bindings": (), "pack list": (),
    "availability": (), "doctor": (),
}  # fmt: skip


Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def ask(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """A command line inside this process: status and what it printed."""

    def asked(token: str, *words: str) -> tuple[int, str]:
        monkeypatch.setenv("HCP_HOME", str(site.home))
        monkeypatch.setenv("HCP_SESSION", token)
        monkeypatch.setattr(sys, "argv", ["hcpx", *words, "--json"])
        status = __main__.main()
        out, err = capsys.readouterr()
        assert err == ""
        return status, out

    return asked


def test_a_stranger_with_the_ids_of_another_tenant_learns_and_changes_nothing(site: Site, ask: Ask) -> None:
    there = Neighbours(site)
    hidden = ["canary", "pad", "wire", "user:root", 'p1"', str(site.folder)]
    for line, named in TRIES.items():
        words = line.split()
        status, told = ask(there.stranger, *words, *(there.ids[name] for name in named))
        assert [text for text in hidden if text in told.replace("user:p-1", "")] == [], line
        if named:
            (made_up, own) = (f"{there.ids[named[0]][:2]}0nothing", there.ids[named[0]])
            wrong, unknown = ask(there.stranger, *words, made_up)
            assert (status, json.loads(told)["ok"]) == (wrong, False), line
            assert told.replace(own, "ID") == unknown.replace(made_up, "ID"), line
    for pack_id in ("pad", "hcp-cli"):
        result = site.call(pack_id, "note", token=there.stranger)
        assert result.code == ("unknown_pack" if pack_id == "pad" else "no_policy")
    assert site.runtime.books.approval(there.ids["approval"]).state == "pending"


@pytest.mark.parametrize("verb", ["hcp.list", "hcp.availability", "hcp.skill", "hcp.doctor"])
def test_what_everybody_may_ask_tells_nothing_of_another_tenant(site: Site, verb: str) -> None:
    there = Neighbours(site)
    before = site.call("hcp-cli", verb, token=there.stranger)
    site.call("pad", "wire", {"n": 1, "confirm": True})
    site.install("second", commands={"run": ["second", "run"]})
    after = site.call("hcp-cli", verb, token=there.stranger)
    assert before.result == after.result
    assert "pad" not in json.dumps(after.result).replace("bad", "")

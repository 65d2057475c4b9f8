"""The bootstrap pack (Spec 02 section 5): reads answer directly, changes name their exact CLI line."""

from __future__ import annotations

from typing import Any

import pytest

from hcpx.vocabulary.version import VERSION
from tests.runtime.conftest import House


def of(house: House, verb: str, token: str | None = None) -> dict[str, Any]:
    rows = house.asked("hcp.availability", {"pack": "tool", "verb_key": verb}, token)["commands"]
    assert len(rows) == 1
    return rows[0]


def test_list_shows_commands_of_active_packs_and_only_titles_of_others(house: House) -> None:
    house.installed()
    house.owner.packs.add(str(house.pack("other", title="Another")))
    packs = {pack["id"]: pack for pack in house.asked("hcp.list")["packs"]}
    assert packs["other"] == {"id": "other", "title": "Another", "activated": False}
    assert packs["tool"] == {
        "id": "tool",
        "version": "1.0.0",
        "title": "A tool",
        "kind": "wrap",
        "activated": True,
        "commands": [
            {"verb_key": "see", "summary": "See it", "operation": "read", "confirm": False, "approvals": 0},
            {"verb_key": "set", "summary": "Set it", "operation": "write", "confirm": True, "approvals": 0},
            {"verb_key": "send", "summary": "Send it", "operation": "write", "confirm": True, "approvals": 0},
            {"verb_key": "wire", "summary": "Wire it", "operation": "write", "confirm": True, "approvals": 1},
            {"verb_key": "sleep", "summary": "Sleep", "operation": "read", "confirm": False, "approvals": 0},
        ],
    }
    assert (packs["hcp-cli"]["version"], packs["hcp-cli"]["activated"]) == (VERSION, True)


def test_availability_names_what_each_command_needs(house: House) -> None:
    house.installed()
    assert of(house, "see") == {
        "pack_id": "tool",
        "verb_key": "see",
        "available": True,
        "confirm": False,
        "approvals": 0,
        "binding": {"family": "public", "state": "none"},
    }
    assert of(house, "set")["hint"] == 'needs "confirm": true in args, once it is agreed'
    assert of(house, "wire")["hint"].startswith("needs 1 approval(s) by others")
    assert of(house, "send") == {
        "pack_id": "tool",
        "verb_key": "send",
        "available": False,
        "code": "binding_missing",
        "error": "binding user for tool: not connected",
        "hint": "hcpx connect tool",
        "confirm": True,
        "approvals": 0,
        "binding": {"family": "user", "state": "missing"},
    }
    house.owner.bindings.connect("tool", "tok-1234567")
    assert (of(house, "send")["available"], of(house, "send")["binding"]["state"]) == (True, "fresh")


def test_availability_for_an_agent_says_what_is_missing_and_whom_to_ask(house: House) -> None:
    house.installed()
    token, _ = house.owner.new_session(actor="agent:claude", packs=["tool"], read_only=True)
    row = of(house, "set", token)
    assert (row["available"], row["code"]) == (False, "denied")
    assert row["hint"].startswith("ask the store's owner to run: hcpx session new ")
    assert row["hint"].endswith(" --actor agent:claude --pack tool --verb set")


def test_availability_names_a_program_that_is_not_allowed(house: House) -> None:
    house.installed(wrap={"bin": "sh"})
    assert (of(house, "see")["code"], of(house, "see")["hint"]) == ("not_allowlisted", "hcpx allow sh")
    house.owner.allow("sh")
    assert of(house, "see")["available"] is True


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"pack": "nope"}, "unknown_pack"),
        ({"pack": "other"}, "pack_not_activated"),
        ({"pack": "tool", "verb_key": "nope"}, "no_policy"),
    ],
    ids=["unknown", "inactive", "command"],
)
def test_availability_of_what_cannot_be_resolved_is_its_denial(house: House, args: dict[str, str], code: str) -> None:
    house.installed()
    house.owner.packs.add(str(house.pack("other")))
    rows = house.asked("hcp.availability", args)["commands"]
    assert [(row["available"], row["code"]) for row in rows] == [(False, code)]


def test_a_scope_does_not_hide_the_bootstrap_pack(house: House) -> None:
    house.installed()
    token, _ = house.owner.new_session(packs=["tool"], verbs=["see"], read_only=True)
    assert {pack["id"] for pack in house.asked("hcp.list", token=token)["packs"]} == {"hcp-cli", "tool"}


def test_skills_are_led_in_full_and_beside(house: House) -> None:
    place = house.pack(skills=["skills/use/SKILL.md"])
    skill = place / "skills" / "use"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: use\ndescription: How to use it\n---\nThe body.\n")
    (skill / "more.txt").write_text("More.")
    house.owner.packs.add(str(place))
    house.owner.packs.activate("tool")
    assert house.asked("hcp.skill", {"pack": "tool"}) == {
        "skills": [{"pack": "tool", "name": "use", "description": "How to use it"}]
    }
    full = house.asked("hcp.skill", {"pack": "tool", "name": "use", "full": True})
    assert (full["pack"], full["name"], "The body." in full["text"]) == ("tool", "use", True)
    beside = house.asked("hcp.skill", {"pack": "tool", "name": "use", "file": "more.txt"})
    assert beside == {"pack": "tool", "name": "use", "file": "more.txt", "text": "More."}


@pytest.mark.parametrize(
    "file", ["../../../etc/passwd", "/etc/passwd", "..", "", "nope.txt", "more.txt/../../pack.yaml"]
)
def test_a_skills_file_never_leaves_the_pack(house: House, file: str) -> None:
    house.installed()
    result = house.call("hcp.skill", {"pack": "tool", "name": "tool", "file": file}, pack="hcp-cli")
    assert (result.ok, result.code) == (False, "not_found")


def test_a_pack_without_a_skill_gets_a_lead_made_from_its_commands(house: House) -> None:
    house.installed()
    (lead,) = house.asked("hcp.skill", {"pack": "tool"})["skills"]
    assert (lead["pack"], lead["name"]) == ("tool", "tool")
    assert "see" in lead["description"]


def test_a_skill_of_an_inactive_pack_is_not_readable(house: House) -> None:
    house.owner.packs.add(str(house.pack("other")))
    assert house.call("hcp.skill", {"pack": "other"}, pack="hcp-cli").code == "pack_not_activated"


def test_doctor_names_no_path_of_the_host(house: House) -> None:
    house.installed()
    found = house.asked("hcp.doctor")
    # What bounds a sandbox is the machine's: an ordinary user has no memory cgroup on most.
    assert [one["name"] for one in found["checks"] if not one["ok"] and not one["name"].startswith("sandbox ")] == []
    assert {"store", "audit", "sandbox", "vault", "search path", "clock"} <= {one["name"] for one in found["checks"]}
    assert str(house.folder) not in repr(found)


def test_doctor_asks_the_owner_for_a_fix_where_an_agent_looks(house: House) -> None:
    house.owner.configure("sandbox", "native-local")
    token, _ = house.owner.new_session(actor="agent:claude")
    fixes = {one["name"]: one.get("fix") for one in house.asked("hcp.doctor", token=token)["checks"]}
    assert fixes["sandbox"] == "ask the store's owner to run: hcpx config set sandbox sandbox"


def test_doctor_tells_a_session_nothing_of_another_tenants_calls_and_secrets(house: House) -> None:
    token, _ = house.owner.new_session(principal="user:eve", tenant="other")
    before = house.asked("hcp.doctor", token=token)["checks"]
    house.installed()
    house.owner.bindings.connect("tool", "secret-of-somebody-else")
    assert house.call("see").ok
    assert house.asked("hcp.doctor", token=token)["checks"] == before


LINES = [
    ("hcp.activate", {"pack": "tool"}, "hcpx activate tool"),
    ("hcp.deactivate", {"pack": "tool"}, "hcpx deactivate tool"),
    ("hcp.connect", {"pack": "my tool"}, "hcpx connect 'my tool'"),
    ("hcp.disconnect", {"pack": "tool"}, "hcpx disconnect tool"),
    (
        "hcp.grant",
        {"principal": "user:grace", "capability": "verb.exec.write", "pack": "tool"},
        "hcpx grant user:grace verb.exec.write --pack tool --verb '*'",
    ),
    (
        "hcp.revoke",
        {"principal": "user:grace", "capability": "pack.connect", "pack": "*", "verb_keys": ["a", "b;c"]},
        "hcpx revoke user:grace pack.connect --pack '*' --verb a --verb 'b;c'",
    ),
    ("hcp.pack_add", {"path": "a b", "link": True, "replace": False}, "hcpx pack add 'a b' --link"),
    ("hcp.pack_remove", {"pack": "tool"}, "hcpx pack remove tool"),
    ("hcp.allow", {"bin": "$(id)"}, "hcpx allow '$(id)'"),
    (
        "hcp.session_new",
        {"actor": "agent:claude", "pack": ["tool", "other"], "read_only": True, "ttl": "8h"},
        "hcpx session new --actor agent:claude --pack tool --pack other --read-only --ttl 8h",
    ),
    (
        "hcp.policy_tighten",
        {"pack": "tool", "verb_key": "set", "confirm": True, "approvals": 1, "timeout_s": 5},
        "hcpx policy tighten tool.set --confirm --approvals 1 --timeout-s 5",
    ),
]


@pytest.mark.parametrize(("verb", "args", "line"), LINES, ids=[line[0] for line in LINES])
def test_a_change_answers_its_exact_line_and_changes_nothing(
    house: House, verb: str, args: dict[str, Any], line: str
) -> None:
    before = house.asked("hcp.list")
    assert house.asked(verb, args) == {"deferred_to_cli": True, "hint": line}
    token, _ = house.owner.new_session(actor="agent:claude")
    hint = house.asked(verb, args, token)["hint"]
    assert hint == f"ask the store's owner to run: {line}"
    assert house.asked("hcp.list") == before

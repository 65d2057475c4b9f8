"""What the store's owner does: activations that pin, narrowed sessions, decisions on approvals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hcpx.store.errors import NotFound, Refused
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.policy import Overlay
from tests.runtime.conftest import House, manifest


def edited(house: House, **fields: Any) -> None:
    (house.folder / "packs" / "tool" / "pack.yaml").write_text(json.dumps(manifest("tool", **fields)))


def test_activating_grants_the_owner_the_packs_own_operations(house: House) -> None:
    house.installed()
    held = {(row.grant.capability, row.grant.pack_id) for row in house.owner.grants.list("local")}
    assert held == {("verb.exec.read", "tool"), ("verb.exec.write", "tool")}


def test_a_linked_pack_that_changed_is_refused_until_it_is_activated_again(house: House) -> None:
    house.installed(link=True)
    assert house.call("see").ok
    edited(house, title="Another title")
    assert house.call("see").error == "pack tool changed since activation"
    asked = [change.text for change in house.owner.packs.asked("tool")]
    assert any("Another title" in text for text in asked)
    house.owner.packs.activate("tool")
    assert house.call("see").ok
    assert house.owner.packs.asked("tool") == ()


def test_only_what_was_seen_is_activated(house: House) -> None:
    house.installed(link=True)
    seen = house.owner.packs.show("tool").digest
    edited(house, policy=manifest("tool")["policy"] | {"set": {"operation": "write", "confirm": False}})
    with pytest.raises(Refused, match="changed since it was shown"):
        house.owner.packs.activate("tool", seen=seen)
    assert house.call("set").code == "pack_changed"
    house.owner.packs.activate("tool", seen=house.owner.packs.show("tool").digest)
    assert house.call("set").ok


def test_reordered_keys_are_no_change_and_a_changed_program_is_one(house: House) -> None:
    house.installed(link=True)
    body = manifest("tool")
    (house.folder / "packs" / "tool" / "pack.yaml").write_text(json.dumps(dict(reversed(body.items()))))
    assert house.call("see").ok
    program = house.folder / "packs" / "tool" / "bin" / "probe"
    program.write_text(program.read_text() + "\n# another\n")
    assert house.call("see").code == "pack_changed"


def test_a_followed_pack_may_change(house: House) -> None:
    house.installed(link=True)
    house.owner.packs.activate("tool", follow=True)
    edited(house, title="Another title")
    assert house.call("see").ok
    (house.folder / "packs" / "tool" / "pack.yaml").write_text("{")
    assert house.call("see").ok is False


def test_only_a_linked_pack_can_be_followed(house: House) -> None:
    house.installed()
    with pytest.raises(Refused, match="linked"):
        house.owner.packs.activate("tool", follow=True)


def test_an_installed_pack_does_not_follow_its_source(house: House) -> None:
    house.installed()
    edited(house, title="Another title")
    assert house.call("see").ok
    added = house.owner.packs.add(str(house.folder / "packs" / "tool"), replace=True)
    assert added.pack.title == "Another title"
    assert house.call("see").code == "pack_changed"


def test_two_packs_of_one_id_need_replace(house: House) -> None:
    house.installed()
    edited(house, title="Another title")
    refused = house.owner.packs.add(str(house.folder / "packs" / "tool"))
    assert refused.denial.code == "exists"
    assert house.call("see").ok


def test_a_deactivated_pack_is_not_activated(house: House) -> None:
    house.installed()
    house.owner.packs.deactivate("tool")
    assert house.call("see").code == "pack_not_activated"
    with pytest.raises(NotFound):
        house.owner.packs.deactivate("tool")


def test_a_session_is_narrowed_to_packs_commands_and_reads(house: House) -> None:
    house.installed()
    token, row = house.owner.new_session(actor="agent:claude", packs=["tool"], verbs=["see"], read_only=True, ttl_s=60)
    assert (row.actor, row.scope) == ("agent:claude", (Grant("verb.exec.read", "tool", ("see",)),))
    assert house.call("see", token=token).ok
    assert house.call("sleep", {"s": 0}, token=token).code == "denied"
    assert house.call("set", {"confirm": True}, token=token).code == "denied"


def test_a_session_for_a_pack_that_the_owner_has_not_activated_is_refused(house: House) -> None:
    house.owner.packs.add(str(house.pack("other")))
    with pytest.raises(NotFound, match="hcpx activate other"):
        house.owner.new_session(packs=["other"])


def test_a_revoked_session_is_dead_at_once(house: House) -> None:
    house.installed()
    token, row = house.owner.new_session()
    assert house.call("see", token=token).ok
    house.owner.sessions.revoke(row.id)
    assert house.call("see", token=token).code == "unauthenticated"


def test_settings_are_known_by_name_and_value(house: House) -> None:
    house.owner.configure("sandbox", "native-local")
    assert house.owner.settings() == {"sandbox": "native-local"}
    with pytest.raises(Refused, match="did you mean sandbox"):
        house.owner.configure("sandbx", "native-local")
    with pytest.raises(Refused, match="one of"):
        house.owner.configure("sandbox", "none")
    house.owner.configure("sandbox", None)
    assert house.owner.settings() == {"sandbox": "sandbox"}


def test_a_secret_that_is_connected_reaches_the_child_and_nobody_else(house: House) -> None:
    house.installed()
    house.owner.bindings.connect("tool", "tok-ada-1234567")
    result = house.call("send", {"confirm": True})
    assert result.result == {"TOOL_TOKEN": "[redacted]"}
    assert "tok-ada" not in repr(result)
    assert "tok-ada" not in repr(house.owner.bindings.list())
    assert house.owner.bindings.disconnect("tool") == "user"
    assert house.call("send", {"confirm": True}).code == "binding_missing"
    with pytest.raises(NotFound):
        house.owner.bindings.disconnect("tool")


@pytest.mark.parametrize("name", ["ada", "*", "user:", "user:a b", ""], ids=repr)
def test_a_credential_is_kept_for_a_principal_and_nobody_else(house: House, name: str) -> None:
    house.installed()
    with pytest.raises(Refused, match="principal id"):
        house.owner.bindings.connect("tool", "tok-1234567", principal=name)
    assert house.owner.bindings.list() == []


def test_the_command_that_connecting_takes_its_secret_from_never_runs_for_a_caller(house: House) -> None:
    body = manifest("tool")
    logins = {
        name: {"summary": "Log in", "cli": ["tool", "argv", "tok-1234567"], "args": {}} for name in ("login", "renew")
    }
    house.installed(
        commands=body["commands"] | logins,
        policy=body["policy"] | {name: {"operation": "connect"} for name in logins},
        binding=body["binding"] | {"connect": {"command": "login", "secret": "/argv/0"}},
    )
    token, _ = house.owner.new_session(actor="agent:claude")
    line = "hcpx connect tool"
    assert house.call("login").result == {"deferred_to_cli": True, "hint": line}
    asked = {"deferred_to_cli": True, "hint": f"ask the store's owner to run: {line}"}
    assert house.call("login", token=token).result == asked
    assert house.call("renew", token=token).result == {"argv": ["tok-1234567", "--json"]}
    other, _ = house.owner.new_session(principal="user:eve")
    assert house.call("login", token=other).code == "denied"


def test_connecting_asks_for_the_family_where_there_is_a_choice(house: House) -> None:
    policy = manifest("tool")["policy"] | {"set": {"operation": "write", "confirm": True, "binding": "mothership"}}
    house.installed(policy=policy)
    with pytest.raises(Refused, match="--family"):
        house.owner.bindings.connect("tool", "tok-1234567")
    assert house.owner.bindings.connect("tool", "tok-1234567", family="mothership").family == "mothership"
    with pytest.raises(Refused, match="no command of tool"):
        house.owner.bindings.connect("tool", "tok-1234567", family="local")


class Wire:
    """A call that waits for an approval, and people who may give it."""

    def __init__(self, house: House) -> None:
        self.house = house
        house.installed()
        for who in ("user:grace", "user:alan"):
            house.owner.grant(who, Grant("verb.approve", "tool", ("wire",)))
        self.approval_id = self.call().approval.id

    def call(self, token: str | None = None) -> Any:
        return self.house.call("wire", {"confirm": True}, token=token)

    def decide(self, who: str, verdict: Any = "approve", **session: Any) -> Any:
        token, _ = self.house.owner.new_session(principal=who, **session)
        return self.house.runtime.books.decide(self.house.runtime.session(token), self.approval_id, verdict, "because")


def test_another_persons_approval_lets_the_call_run_once(house: House) -> None:
    wire = Wire(house)
    assert wire.decide("user:grace").decisions[0].principal == "user:grace"
    assert wire.call().ok
    assert wire.call().code == "approval_required"


def test_a_denial_is_told_with_its_reason(house: House) -> None:
    wire = Wire(house)
    wire.decide("user:grace", "deny")
    assert wire.call().error == "approval denied: because"


@pytest.mark.parametrize(
    ("who", "session", "code"),
    [
        ("user:mallory", {}, "denied"),
        (None, {}, "forbidden"),
        ("user:grace", {"actor": "agent:claude"}, "forbidden"),
        ("user:grace", {"read_only": True}, "denied"),
    ],
    ids=["no-right", "own-call-and-no-right", "actor", "scope"],
)
def test_a_decision_that_does_not_count_is_a_denial(house: House, who: str | None, session: Any, code: str) -> None:
    wire = Wire(house)
    denial = wire.decide(who or house.owner.session.principal, **session)
    assert isinstance(denial, Denial)
    assert denial.code == code
    assert wire.call().code == "approval_required"


def test_nobody_decides_on_a_call_of_their_own(house: House) -> None:
    wire = Wire(house)
    owner = house.owner.session.principal
    house.owner.grant(owner, Grant("verb.approve", "*", ("*",)))
    denial = house.runtime.books.decide(house.runtime.session(None), wire.approval_id, "approve")
    assert isinstance(denial, Denial)
    assert denial.code == "forbidden"


def test_the_right_to_approve_is_asked_for_again_when_the_approval_is_used(house: House) -> None:
    wire = Wire(house)
    wire.decide("user:grace")
    house.owner.principals.disable("local", "user:grace")
    assert wire.call().code == "approval_required"


def test_without_a_session_nothing_is_decided(house: House) -> None:
    wire = Wire(house)
    denial = house.runtime.books.decide(None, wire.approval_id, "approve")
    assert isinstance(denial, Denial)
    assert denial.code == "unauthenticated"


def test_waiting_for_an_approval_ends_when_it_is_decided_or_the_time_is_up(house: House) -> None:
    import time
    from threading import Timer

    wire = Wire(house)
    result = wire.call()
    assert house.runtime.wait_for_approval(result, time.monotonic() + 0.01) is False
    Timer(0.05, lambda: wire.decide("user:grace")).start()
    assert house.runtime.wait_for_approval(result, time.monotonic() + 30) is True
    assert wire.call().ok


def test_args_are_typed_for_the_command_line_by_the_schema(house: House) -> None:
    commands = manifest("tool")["commands"]
    commands["see"]["args"] = {"what": {"type": "integer"}, "name": {"type": ["string", "null"]}}
    house.installed(commands=commands)
    assert house.runtime.takes_text(None, "tool", "see") == {"what": False, "name": True}
    assert house.runtime.takes_text(None, "tool", "set") is None
    assert house.runtime.takes_text(None, "nope", "see") is None
    assert house.runtime.takes_text("hcps_dead", "tool", "see") is None


def test_shipped_packs_are_added_by_name(house: House) -> None:
    added = house.owner.packs.add("ledger")
    assert added.pack.id == "ledger"
    assert house.owner.packs.add("no-such-pack").denial.code == "not_found"


def test_schemas_laid_over_each_other_keep_their_own_references(house: House) -> None:
    house.installed()
    short = {"properties": {"what": {"$ref": "#/$defs/short"}}, "$defs": {"short": {"maxLength": 3}}}
    house.owner.tighten("tool", "see", Overlay(args_schema=json.dumps(short)))
    house.owner.tighten("tool", "see", Overlay(args_schema='{"required": ["what"]}'))
    assert house.call("see", {"what": "abc"}).ok
    assert house.call("see", {"what": "abcd"}).error == "invalid args: /what: must have at most 3 characters"
    assert house.call("see").error == "invalid args: /what: missing"

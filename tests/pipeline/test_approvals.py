"""Approvals: another person's word for exactly one call (Spec 01 section 3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hcpx.vocabulary.approval import Decision
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import deny
from hcpx.vocabulary.policy import Overlay, PolicyRow
from hcpx.vocabulary.result import Result
from tests.doubles import NOW, PROJECT, World, wrap_pack

WIRE = PolicyRow("write", confirm=True, approvals=1)


def world(approvals: int = 1, **session: Any) -> World:
    here = World(wrap_pack({"wire": msgspec.structs.replace(WIRE, approvals=approvals)}), **session)
    for name in ("user:grace", "user:alan", "user:ada", "agent:claude"):
        here.grants.setdefault(name, []).append(Grant("verb.approve", "ledger", ("wire",)))
    return here


def wire(here: World, **args: Any) -> Result:
    return here.call("wire", {"amount": 5, "confirm": True} | args)


def approve(here: World, by: str, verdict: Any = "approve", reason: str = "") -> None:
    here.approvals.decide(here.approvals.all[-1].id, Decision(by, verdict, NOW, reason))


def test_a_call_that_wants_an_approval_is_denied_with_the_request_it_waits_for() -> None:
    here = world()
    result = wire(here)
    asked = here.approvals.all[0]
    assert (result.code, result.step, result.error) == ("approval_required", 4, "approval required")
    assert result.hint == "somebody else decides: hcpx approvals approve p_1"
    assert result.to_dict()["approval"] == {
        "id": "p_1",
        "digest": asked.ask.digest,
        "expires_at": "2027-01-15T08:10:00.000Z",
    }
    assert not here.ran
    assert all(record.kind != "intent" for record in here.journal.records)


def test_asking_again_for_the_same_call_gives_the_same_pending_request() -> None:
    here = world()
    assert wire(here).approval == wire(here, apply=True).approval
    assert len(here.approvals.all) == 1


def test_an_approved_call_runs_once_and_the_approval_is_used_up() -> None:
    here = world()
    wire(here)
    approve(here, "user:grace")
    assert wire(here).ok
    assert here.last.approval_ids == ("p_1",)
    assert wire(here).code == "approval_required"
    assert len(here.adapter.invocations) == 1


def test_two_approvals_need_two_people() -> None:
    here = world(approvals=2)
    wire(here)
    approve(here, "user:grace")
    approve(here, "user:grace")
    assert wire(here).code == "approval_required"
    approve(here, "user:alan")
    assert wire(here).ok


@pytest.mark.parametrize("by", ["user:ada", "agent:claude"], ids=["caller", "actor"])
def test_the_callers_own_word_does_not_count(by: str) -> None:
    here = world(actor="agent:claude")
    wire(here)
    approve(here, by)
    assert wire(here).code == "approval_required"


def test_an_approver_who_has_lost_the_right_does_not_count() -> None:
    here = world()
    wire(here)
    approve(here, "user:grace")
    here.grants["user:grace"].clear()
    assert wire(here).code == "approval_required"
    assert not here.ran


@pytest.mark.parametrize(("amount", "counts"), [(100, True), (101, False)])
def test_an_approver_counts_only_for_the_args_that_the_right_covers(amount: int, counts: bool) -> None:
    here = world()
    up_to = '{"properties": {"amount": {"maximum": 100}}}'
    here.grants["user:grace"] = [Grant("verb.approve", "ledger", ("wire",), args_schema=up_to)]
    wire(here, amount=amount)
    approve(here, "user:grace")
    assert wire(here, amount=amount).ok is counts


def test_a_denied_request_answers_with_the_reason() -> None:
    here = world()
    wire(here)
    approve(here, "user:grace", "deny", "not on a Friday")
    assert (wire(here).code, wire(here).error) == ("approval_denied", "approval denied: not on a Friday")
    approve(here, "user:grace", "deny")
    assert not here.ran


def test_a_denial_without_a_reason_says_that_none_was_given() -> None:
    here = world()
    wire(here)
    approve(here, "user:grace", "deny")
    assert wire(here).error == "approval denied: no reason given"


def _change_args(here: World) -> Result:
    return wire(here, amount=6)


def _change_invisibly(here: World) -> Result:
    return wire(here, amount="5\u200b")


def _change_pack(here: World) -> Result:
    pack = msgspec.structs.replace(here.packs["ledger"], digest="sha256:newer")
    here.packs["ledger"] = pack
    assert here.session is not None
    here.session = msgspec.structs.replace(here.session, activations={"ledger": "sha256:newer"})
    return wire(here)


def _change_actor(here: World) -> Result:
    assert here.session is not None
    here.session = msgspec.structs.replace(here.session, actor="agent:other")
    return wire(here)


def _change_project(here: World) -> Result:
    assert here.session is not None
    here.session = msgspec.structs.replace(here.session, project=PROJECT)
    return wire(here)


def _change_row(here: World) -> Result:
    here.overlays["ledger", "wire"] = Overlay(limits={"timeout_s": 5})
    return wire(here)


def _change_program(here: World) -> Result:
    here.adapter.blocked = deny("not_allowlisted", bin="x")
    return wire(here)


@pytest.mark.parametrize(
    "change",
    [
        _change_args,
        _change_invisibly,
        _change_pack,
        _change_actor,
        _change_project,
        _change_row,
        _change_program,
    ],
    ids=lambda f: f.__name__,
)
def test_an_approval_counts_for_nothing_but_the_call_it_was_given_for(change: Any) -> None:
    here = world()
    wire(here)
    approve(here, "user:grace")
    assert change(here).code == "approval_required"
    assert not here.ran


@pytest.mark.parametrize(
    ("first", "again", "same"),
    [
        ({"amount": 7, "memo": "x"}, {"memo": "x", "amount": 7.0}, True),
        ({"amount": 2**53}, {"amount": 2**53 + 1}, False),
        ({"amount": 1, "confirm": True}, {"amount": 1, "apply": True}, True),
        ({"amount": [1, 2]}, {"amount": [2, 1]}, False),
    ],
    ids=["order-and-point", "neighbours", "consent", "lists"],
)
def test_the_digest_follows_the_canonical_form_of_the_args(
    first: dict[str, Any],
    again: dict[str, Any],
    same: bool,
) -> None:
    here = world()
    wire(here, **first)
    wire(here, **again)
    assert (len(here.approvals.all) == 1) is same


def test_an_approval_is_given_back_when_nothing_was_started() -> None:
    here = world()
    wire(here)
    approve(here, "user:grace")
    here.adapter.answer = deny("sandbox_unavailable", why="no namespaces")
    assert wire(here).code == "sandbox_unavailable"
    here.adapter.answer = None
    assert wire(here).ok


def test_an_approval_stays_used_when_the_run_failed() -> None:
    from hcpx.vocabulary.invocation import Ran

    here = world()
    wire(here)
    approve(here, "user:grace")
    here.adapter.answer = Ran(code="exit", error="exit 3", exit_code=3)
    assert wire(here).code == "exit"
    assert wire(here).code == "approval_required"


def test_of_two_runs_that_race_for_one_approval_the_slower_is_denied() -> None:
    here = world()
    wire(here)
    approve(here, "user:grace")
    waiting = here.approvals.waiting

    def taken_in_between(ask: Any) -> Any:
        found = waiting(ask)
        here.approvals.use(("p_1",))
        return found

    here.approvals.waiting = taken_in_between  # type: ignore[method-assign]
    assert (wire(here).code, here.ran) == ("approval_required", False)


def test_a_read_with_approvals_leaves_an_intent_too() -> None:
    here = World(wrap_pack({"wire": PolicyRow("read", approvals=1)}))
    here.grants["user:grace"] = [Grant("verb.approve", "*", ("*",))]
    here.call("wire")
    approve(here, "user:grace")
    assert here.call("wire").ok
    assert [r.kind for r in here.journal.records] == ["entry", "intent", "outcome"]


def test_the_approver_sees_what_will_happen_and_no_secret_arg() -> None:
    schema = '{"type":"object","properties":{"amount":{},"pin":{"x-secret":true}},"additionalProperties":false}'
    pack = wrap_pack({"wire": WIRE})
    command = msgspec.structs.replace(pack.commands["wire"], args_schema=schema, cli=("ledger", "wire", "{{pin}}"))
    here = World(msgspec.structs.replace(pack, commands={"wire": command}))
    here.call("wire", {"amount": 5, "pin": "4711-0815", "confirm": True})
    shown = here.approvals.all[0].ask.shown
    assert shown["args"] == {"amount": 5, "pin": "[secret]", "confirm": True}
    assert shown["program"] == {"path": "/packs/bin/x", "digest": "sha256:1"}
    assert "4711" not in repr(shown)

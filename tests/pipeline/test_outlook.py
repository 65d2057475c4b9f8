"""What a call would come to, asked without calling: nothing is minted, run, asked or recorded."""

from __future__ import annotations

from typing import Any

import pytest

from hcpx.pipeline.outlook import availability, explain, rehearse
from hcpx.ports import Call, Credential
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.pack import Wrap
from hcpx.vocabulary.policy import PolicyRow
from tests.doubles import HELD, PROJECT, World, wrap_pack

POLICY = {
    "see": PolicyRow("read"),
    "pay": PolicyRow("write", confirm=True, binding="user"),
    "wire": PolicyRow("write", confirm=True, approvals=1),
    "note": PolicyRow("read", land="brain"),
}


def world(**session: Any) -> World:
    return World(wrap_pack(POLICY, wrap=Wrap(bin="bin/x", workspace="project")), **({"project": PROJECT} | session))


def called(verb: str, **args: Any) -> Call:
    return Call({"pack_id": "ledger", "verb_key": verb, "args": args}, World.TOKEN)


def code(denial: Denial | None) -> str | None:
    return None if denial is None else denial.code


def nothing_happened(here: World) -> bool:
    closed = all(directory.closed == 1 for directory in here.directories.opened)
    return closed and not (here.ran or here.hub.minted or here.journal.records)


@pytest.mark.parametrize(
    ("verb", "expected"),
    [("see", None), ("pay", "binding_missing"), ("wire", None), ("nope", "no_policy")],
    ids=str,
)
def test_availability_supposes_good_args_confirm_and_approvals(verb: str, expected: str | None) -> None:
    here = world()
    assert here.session is not None
    assert code(availability(here.ports, here.session, "ledger", verb)) == expected
    assert nothing_happened(here)
    assert here.approvals.all == []


def test_availability_names_a_missing_project_grant_or_program() -> None:
    here = world(project=None)
    assert here.session is not None
    assert code(availability(here.ports, here.session, "ledger", "see")) == "project_required"
    here = world()
    assert here.session is not None
    here.adapter.blocked = deny("not_allowlisted", bin="x")
    assert code(availability(here.ports, here.session, "ledger", "see")) == "not_allowlisted"
    here.grants.clear()
    assert code(availability(here.ports, here.session, "ledger", "see")) == "denied"


def test_availability_counts_a_grant_whose_schema_some_args_meet() -> None:
    here = world()
    assert here.session is not None
    here.grants["user:ada"] = [Grant("verb.exec.read", "ledger", ("see",), args_schema='{"required":["amount"]}')]
    assert availability(here.ports, here.session, "ledger", "see") is None


def gates(here: World, call: Call) -> list[tuple[int, str | None]]:
    return [(gate.step, code(gate.denial)) for gate in explain(here.ports, call).gates]


def test_explain_shows_every_step_and_the_argv() -> None:
    here = world()
    here.hub.bindings["user:ada", "ledger", "user"] = "tok-1234567"
    found = explain(here.ports, called("pay", amount=5, confirm=True))
    assert [(gate.step, code(gate.denial)) for gate in found.gates] == [(n, None) for n in range(1, 7)]
    assert (found.argv, found.program, found.enforced) == (("pay", "5", "--json"), "/packs/bin/x", HELD)
    assert nothing_happened(here)


def test_explain_goes_on_behind_a_denial_as_far_as_it_can() -> None:
    here = world()
    here.grants.clear()
    here.adapter.blocked = deny("not_allowlisted", bin="x")
    assert gates(here, called("pay")) == [
        (1, None),
        (2, None),
        (3, "denied"),
        (4, "confirm_required"),
        (5, "binding_missing"),
        (6, "not_allowlisted"),
    ]
    assert nothing_happened(here)


def test_explain_says_that_an_approval_is_needed_and_asks_nobody() -> None:
    here = world()
    assert gates(here, called("wire", confirm=True))[3] == (4, "approval_required")
    assert here.approvals.all == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call(b"{}", Credential("another")), [(2, "unauthenticated")]),
        (Call(b"[]", World.TOKEN), [(1, "invalid_envelope")]),
        (called("nope"), [(1, "no_policy")]),
    ],
    ids=["session", "envelope", "command"],
)
def test_explain_stops_where_there_is_nothing_to_look_at(call: Call, expected: list[Any]) -> None:
    assert gates(world(), call) == expected


def test_explain_words_every_hint_for_the_sessions_actor() -> None:
    owners, agents = (explain(world(actor=actor).ports, called("pay")).gates for actor in (None, "agent:claude"))
    hints = [gate.denial.hint for gate in owners if gate.denial is not None]
    assert hints == ['once it is agreed, send "confirm": true in args', "hcpx connect ledger"]
    asked = [hints[0], "ask the store's owner to run: hcpx connect ledger"]
    assert [gate.denial.hint for gate in agents if gate.denial is not None] == asked


def test_explain_stops_at_a_missing_project() -> None:
    assert gates(world(project=None), called("note")) == [(1, None), (2, "project_required")]


def test_explain_of_a_mock_looks_for_its_fixture() -> None:
    here = world()
    assert gates(here, called("pay", confirm=True, mode="mock"))[4] == (5, None)
    here.adapter.mocks = False
    assert gates(here, called("pay", confirm=True, mode="mock"))[4] == (5, "no_mock")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (called("see"), None),
        (called("pay", confirm=True), None),
        (called("pay"), "confirm_required"),
        (called("see", amount="--all"), "invalid_args"),
        (called("nope"), "no_policy"),
        (Call(b"[]", World.TOKEN), "invalid_envelope"),
        (Call(b"{}", Credential("another")), "unauthenticated"),
    ],
    ids=["read", "write", "unconfirmed", "args", "command", "envelope", "session"],
)
def test_a_rehearsal_walks_steps_1_to_4_and_leaves_no_trace(call: Call, expected: str | None) -> None:
    here = world()
    assert code(rehearse(here.ports, call)) == expected
    assert nothing_happened(here)


def test_a_rehearsal_names_a_missing_project_or_grant() -> None:
    assert code(rehearse(world(project=None).ports, called("see"))) == "project_required"
    here = world()
    here.grants.clear()
    assert code(rehearse(here.ports, called("see"))) == "denied"
    assert nothing_happened(here)


def test_a_rehearsal_asks_for_a_missing_approval() -> None:
    here = world()
    denial = rehearse(here.ports, called("wire", confirm=True))
    assert denial is not None
    assert denial.approval is not None
    assert [request.id for request in here.approvals.all] == [denial.approval.id]

"""Spec 01 section 3, approvals; field trouble F2."""

from __future__ import annotations

import pytest

from hcpx.store.errors import NotFound
from hcpx.vocabulary.approval import Approval, Decision
from tests.store.world import ADA, World, ask

GRACE, LINUS = "user:grace", "user:linus"


def say(world: World, approval: Approval, principal: str, verdict: str = "approve", reason: str = "") -> Approval | str:
    decision = Decision(principal, verdict, world.clock.now(), reason)  # pyright: ignore[reportArgumentType]
    return world.approvals.decide(approval.id, decision)


def used(world: World, approval: Approval, audit_id: str = "a_1") -> bool:
    with world.database.writing(durable=True):
        return world.approvals.use((approval.id,), audit_id, world.clock.now())


def test_asking_again_for_the_same_call_gives_the_same_pending_request(world: World) -> None:
    first = world.approvals.request(ask())
    assert first == Approval(first.id, ask(), world.clock.at, world.clock.at + 600, "pending")
    world.clock.turn(599)
    assert world.approvals.request(ask()) == first
    assert world.approvals.request(ask("digest-2")).id != first.id


def test_a_request_expires_ten_minutes_after_itself_however_late_it_was_approved(world: World) -> None:
    first = world.approvals.request(ask())
    world.clock.turn(599)
    say(world, first, GRACE)
    world.clock.turn(1)
    assert world.approvals.waiting(ask()) is None
    assert world.approvals.show(first.id).state == "expired"
    assert used(world, first) is False
    assert say(world, first, LINUS) == f"approval {first.id} is expired"
    assert world.approvals.request(ask()).id != first.id


def test_an_approval_serves_one_call(world: World) -> None:
    approval = world.approvals.request(ask())
    assert used(world, approval) is False, "nobody has approved it"
    say(world, approval, GRACE)
    assert used(world, approval, "a_1") is True
    assert used(world, approval, "a_2") is False
    assert world.approvals.waiting(ask()) is None
    assert world.approvals.show(approval.id).state == "used"


def test_as_many_different_people_as_asked_must_approve(world: World) -> None:
    approval = world.approvals.request(ask(needed=2))
    say(world, approval, GRACE)
    assert say(world, approval, GRACE) == f"{GRACE} has decided on approval {approval.id} already"
    assert used(world, approval) is False
    decided = say(world, approval, LINUS)
    assert isinstance(decided, Approval)
    assert [one.principal for one in decided.decisions] == [GRACE, LINUS]
    assert used(world, approval) is True


@pytest.mark.parametrize("principal", [ADA, "agent:claude"])
def test_nobody_decides_on_a_call_of_their_own(world: World, principal: str) -> None:
    approval = world.approvals.request(ask(actor="agent:claude"))
    assert say(world, approval, principal) == "nobody decides on a call of their own"
    assert world.approvals.show(approval.id).decisions == ()


def test_one_denial_ends_a_request_and_answers_until_it_would_have_expired(world: World) -> None:
    approval = world.approvals.request(ask(needed=2))
    say(world, approval, GRACE)
    say(world, approval, LINUS, "deny", "not today")
    waiting = world.approvals.waiting(ask())
    assert waiting is not None
    assert (waiting.state, waiting.decisions[-1].reason) == ("denied", "not today")
    assert world.approvals.request(ask()) == waiting, "no second request beside a denied one"
    assert used(world, approval) is False
    assert say(world, approval, "user:ken") == f"approval {approval.id} is denied"
    world.clock.turn(600)
    assert world.approvals.waiting(ask()) is None


def test_several_approvals_are_used_all_or_none(world: World) -> None:
    good, poor = world.approvals.request(ask("d1")), world.approvals.request(ask("d2"))
    say(world, good, GRACE)
    with world.database.writing(durable=True):
        assert world.approvals.use((good.id, poor.id), "a_1", world.clock.now()) is False
    assert world.approvals.show(good.id).state == "pending"


def test_what_was_used_for_a_call_that_started_nothing_is_given_back(world: World) -> None:
    approval = world.approvals.request(ask())
    say(world, approval, GRACE)
    assert used(world, approval, "a_1")
    with world.database.writing(durable=True):
        world.approvals.give_back("a_2")
    assert world.approvals.show(approval.id).state == "used"
    with world.database.writing(durable=True):
        world.approvals.give_back("a_1")
    assert world.approvals.show(approval.id).state == "pending"
    assert used(world, approval, "a_3") is True


def test_a_revoked_request_is_of_no_use(world: World) -> None:
    approval = world.approvals.request(ask())
    say(world, approval, GRACE)
    assert world.approvals.revoke(approval.id).state == "revoked"
    assert used(world, approval) is False
    assert world.approvals.waiting(ask()) is None


def test_the_inbox_of_a_tenant_holds_what_waits_oldest_first(world: World) -> None:
    first = world.approvals.request(ask("d1"))
    world.clock.turn(1)
    denied, second = world.approvals.request(ask("d2")), world.approvals.request(ask("d3"))
    say(world, denied, GRACE, "deny")
    assert [one.id for one in world.approvals.open("acme")] == [first.id, second.id]
    assert [one.id for one in world.approvals.list("acme", limit=2)] == [second.id, denied.id]
    assert world.approvals.open("globex") == []


def test_a_request_that_nobody_made_is_not_found(world: World) -> None:
    for act in (world.approvals.show, world.approvals.revoke):
        with pytest.raises(NotFound):
            act("p_nobody")
    with pytest.raises(NotFound):
        world.approvals.decide("p_nobody", Decision(GRACE, "approve", 1.0))

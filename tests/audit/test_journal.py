"""Spec 06 sections 2 and 3: intents, outcomes, approvals and idempotency keys in one transaction."""

from __future__ import annotations

import threading

import msgspec
import pytest

from hcpx.audit.journal import STRANGERS_MOST
from hcpx.audit.views import Filter
from hcpx.ports import KeyUse, Replay
from hcpx.vocabulary.approval import Approval, Decision
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.record import SYSTEM
from tests.store.world import ADA, TENANT, World, again, ask, attribution, intent, outcome, record, use

DAY = 24 * 3600
RESULT = b'{"ok":true}'


def kinds(world: World) -> list[tuple[str, str]]:
    with world.chains.forward(TENANT) as (_, records):
        fields = [msgspec.json.decode(one.text) for one in records]
    return [(one["audit_id"], one["kind"]) for one in fields]


def code(said: object) -> str | None:
    return said.code if isinstance(said, Denial) else None


def approved(world: World) -> Approval:
    approval = world.approvals.request(ask())
    world.approvals.decide(approval.id, Decision("user:grace", "approve", world.clock.now()))
    return approval


def test_a_read_leaves_one_entry(world: World) -> None:
    world.journal.settle(record("a_1", outcome="ok"), started=True)
    assert kinds(world) == [("a_1", "entry")]


def test_a_write_leaves_an_intent_and_then_its_outcome(world: World) -> None:
    assert world.journal.intend(intent("a_1"), (), None) is None
    assert kinds(world) == [("a_1", "intent")]
    assert [one.audit_id for one in world.intents.waiting()] == ["a_1"]
    world.journal.settle(outcome("a_1"), started=True)
    assert kinds(world) == [("a_1", "intent"), ("a_1", "outcome")]
    assert world.intents.waiting() == []


# --- idempotency --------------------------------------------------------------------------------------------


def written(world: World, audit_id: str = "a_1", key: KeyUse | None = None) -> None:
    key = key or use()
    assert world.journal.intend(intent(audit_id), (), key) is None
    world.journal.settle(outcome(audit_id), started=True, use=key, result=RESULT)


def test_a_free_key_is_recalled_as_nothing(world: World) -> None:
    assert world.journal.recall(use()) is None


def test_a_key_gives_the_recorded_result_again(world: World) -> None:
    written(world)
    assert world.journal.recall(use()) == Replay(RESULT)


def test_a_key_is_one_principals_in_one_tenant(world: World) -> None:
    written(world)
    for other in (
        msgspec.structs.replace(use(), tenant="globex"),
        msgspec.structs.replace(use(), principal="user:grace"),
        msgspec.structs.replace(use(), key="K"),
    ):
        assert world.journal.recall(other) is None


def test_a_key_for_another_call_is_a_conflict_also_while_the_first_runs(world: World) -> None:
    world.journal.intend(intent("a_1"), (), use())
    assert code(world.journal.recall(use(digest="other"))) == "idempotency_conflict"
    world.journal.settle(outcome("a_1"), started=True, use=use(), result=RESULT)
    assert code(world.journal.recall(use(digest="other"))) == "idempotency_conflict"
    assert code(world.journal.intend(intent("a_2"), (), use(digest="other"))) == "idempotency_conflict"


def test_while_the_first_call_runs_its_key_is_busy(world: World) -> None:
    world.journal.intend(intent("a_1"), (), use())
    busy = world.journal.recall(use())
    assert isinstance(busy, Denial)
    assert (busy.code, busy.step) == ("busy", 4)
    assert code(world.journal.intend(intent("a_2"), (), use())) == "busy"
    assert kinds(world) == [("a_1", "intent")]


def test_a_call_that_was_faster_is_busy_for_the_other_also_when_it_has_ended(world: World) -> None:
    written(world)
    assert code(world.journal.intend(intent("a_2"), (), use())) == "busy"


def test_of_two_calls_with_one_key_at_once_one_runs(world: World) -> None:
    start, said = threading.Barrier(8), list[str | None]()

    def call(number: int) -> None:
        start.wait()
        said.append(code(world.journal.intend(intent(f"a_{number}"), (), use())))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said, key=str) == [None, *["busy"] * 7]
    assert len(kinds(world)) == 1


def test_a_call_that_started_nothing_leaves_its_key_free(world: World) -> None:
    world.journal.intend(intent("a_1"), (), use())
    world.journal.settle(outcome("a_1"), started=False, use=use())
    assert world.journal.recall(use()) is None
    written(world, "a_2", use(digest="other"))
    assert world.journal.recall(use(digest="other")) == Replay(RESULT)


def test_a_call_that_ends_frees_no_key_of_another_call(world: World) -> None:
    written(world)
    world.journal.intend(intent("a_2"), (), None)
    world.journal.settle(outcome("a_2"), started=False, use=use())
    assert world.journal.recall(use()) == Replay(RESULT)


def test_a_call_that_ended_nobody_knows_how_is_never_run_again_silently(world: World) -> None:
    world.journal.intend(intent("a_1"), (), use())
    world.journal.settle(outcome("a_1"), started=True, use=use(), result=None)
    assert code(world.journal.recall(use())) == "outcome_unknown"
    assert code(world.journal.intend(intent("a_2"), (), use())) == "outcome_unknown"


def test_a_key_is_kept_for_a_day(world: World) -> None:
    written(world)
    world.clock.turn(DAY - 1)
    assert world.journal.recall(use()) == Replay(RESULT)
    world.clock.turn(1)
    assert world.journal.recall(use()) is None
    written(world, "a_2", use(digest="other"))
    assert world.journal.recall(use(digest="other")) == Replay(RESULT)


def test_a_call_that_runs_for_more_than_a_day_holds_its_key(world: World) -> None:
    world.journal.intend(intent("a_1"), (), use())
    world.clock.turn(2 * DAY)
    assert code(world.journal.recall(use())) == "busy"


def test_a_clock_that_was_set_back_frees_no_key(world: World) -> None:
    written(world)
    world.clock.turn(-10 * DAY)
    assert world.journal.recall(use()) == Replay(RESULT)


def test_keys_that_count_no_more_are_dropped_on_the_way(world: World) -> None:
    for number in range(20):
        written(world, f"a_{number}", use(f"k{number}"))
    world.clock.turn(3 * DAY)
    for number in range(20, 22):
        written(world, f"a_{number}", use(f"k{number}"))
    row = world.database.one("SELECT count(*) FROM idempotency_keys")
    assert row == (2,)


# --- approvals ----------------------------------------------------------------------------------------------


def test_an_intent_uses_its_approvals_up(world: World) -> None:
    approval = approved(world)
    assert world.journal.intend(intent("a_1"), (approval.id,), None) is None
    assert world.approvals.show(approval.id).state == "used"
    assert code(world.journal.intend(intent("a_2"), (approval.id,), None)) == "approval_required"
    assert kinds(world) == [("a_1", "intent")]


def test_without_its_approval_neither_key_nor_intent_is_written(world: World) -> None:
    waiting = world.approvals.request(ask())
    assert code(world.journal.intend(intent("a_1"), (waiting.id,), use())) == "approval_required"
    assert (world.journal.recall(use()), kinds(world), world.intents.waiting()) == (None, [], [])


def test_a_busy_key_uses_no_approval_up(world: World) -> None:
    approval = approved(world)
    world.journal.intend(intent("a_1"), (), use())
    assert code(world.journal.intend(intent("a_2"), (approval.id,), use())) == "busy"
    assert world.approvals.show(approval.id).state == "pending"


@pytest.mark.parametrize(("started", "state"), [(False, "pending"), (True, "used")])
def test_approvals_are_given_back_exactly_where_nothing_was_started(world: World, started: bool, state: str) -> None:
    approval = approved(world)
    world.journal.intend(intent("a_1"), (approval.id,), None)
    world.journal.settle(outcome("a_1"), started=started)
    assert world.approvals.show(approval.id).state == state


def test_of_two_processes_with_one_approval_one_runs(world: World) -> None:
    approval, other = approved(world), again(world)
    said = [code(one.journal.intend(intent(f"a_{n}"), (approval.id,), None)) for n, one in enumerate((world, other))]
    assert said == [None, "approval_required"]
    other.database.close()


# --- calls without a live session ---------------------------------------------------------------------------


def strange(world: World, number: int) -> None:
    call = record(f"x_{number}", whose=attribution(session=None), decision="denied", code="unauthenticated")
    world.journal.settle(call, started=False)


def strangers(world: World) -> list[object]:
    with world.chains.forward(SYSTEM) as (_, records):
        fields = [msgspec.json.decode(one.text) for one in records]
    return [one["args"] if "args" in one else one["audit_id"] for one in fields]


def test_calls_without_a_session_go_to_a_chain_of_the_systems_own(world: World) -> None:
    strange(world, 1)
    assert strangers(world) == ["x_1"]
    assert kinds(world) == []


def test_a_flood_of_them_is_recorded_in_part_and_counted(world: World) -> None:
    for number in range(STRANGERS_MOST + 40):
        strange(world, number)
    assert len(strangers(world)) == STRANGERS_MOST
    world.clock.turn(60)
    strange(world, 999)
    assert strangers(world)[STRANGERS_MOST:] == [{"unrecorded": 40}, "x_999"]
    strange(world, 1000)
    assert strangers(world)[-1] == "x_1000"


def test_a_clock_that_was_set_back_does_not_silence_the_chain_for_long(world: World) -> None:
    for number in range(STRANGERS_MOST):
        strange(world, number)
    world.clock.turn(-3600)
    strange(world, 999)
    assert strangers(world)[-1] == "x_999"


def test_a_flood_is_counted_over_all_processes(world: World) -> None:
    other = again(world)
    for number in range(STRANGERS_MOST):
        strange(world if number % 2 else other, number)
    strange(world, 999)
    strange(other, 999)
    assert len(strangers(world)) == STRANGERS_MOST
    other.database.close()


def test_a_known_callers_denial_is_never_left_out(world: World) -> None:
    for number in range(STRANGERS_MOST + 5):
        world.journal.settle(record(f"a_{number}", decision="denied", code="denied"), started=False)
    assert len(world.views.list([TENANT], Filter(principal=ADA, limit=None))) == STRANGERS_MOST + 5

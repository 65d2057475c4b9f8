"""The audit as people read it."""

from __future__ import annotations

import json

import msgspec
import pytest

from hcpx.audit.views import Filter
from hcpx.vocabulary.record import SYSTEM
from tests.store.world import ADA, TENANT, World, attribution, intent, outcome, record


def at(hour: int, minute: int = 0) -> str:
    return f"2026-12-01T{hour:02}:{minute:02}:00.000Z"


def ids(world: World, wanted: Filter, tenants: tuple[str, ...] = (TENANT,)) -> list[object]:
    return [entry["audit_id"] for entry in world.views.list(tenants, wanted)]


def settled(world: World, audit_id: str, **changes: object) -> None:
    """A read, its attribution changed where a field of that name is there, else the record."""
    names = attribution().__struct_fields__
    whose = msgspec.structs.replace(attribution(), **{k: v for k, v in changes.items() if k in names})
    rest = {name: value for name, value in changes.items() if name not in names}
    world.journal.settle(msgspec.structs.replace(record(audit_id, whose=whose), **rest), started=True)


def test_a_list_has_one_entry_for_each_call_newest_first(world: World) -> None:
    settled(world, "a_1")
    world.journal.intend(intent("a_2"), (), None)
    settled(world, "a_3")
    world.journal.settle(outcome("a_2"), started=True)
    world.journal.intend(intent("a_4"), (), None)
    entries = world.views.list([TENANT], Filter())
    assert [(entry["audit_id"], entry["kind"]) for entry in entries] == [
        ("a_4", "intent"),
        ("a_2", "outcome"),
        ("a_3", "entry"),
        ("a_1", "entry"),
    ]
    assert entries[0]["running"] is True
    assert ids(world, Filter(limit=2)) == ["a_4", "a_2"]


def test_an_entry_is_flat_and_whole(world: World) -> None:
    settled(world, "a_1", args={"n": 10**20}, outcome="ok", exit_code=0, duration_ms=1.5)
    (entry,) = world.views.list([TENANT], Filter())
    assert entry == {
        "seq": 1,
        "step": 7,
        "audit_id": "a_1",
        "kind": "entry",
        **msgspec.to_builtins(attribution()),
        "decision": "allowed",
        "outcome": "ok",
        "args": {"n": 10**20},
        "exit_code": 0,
        "duration_ms": 1.5,
    }


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(principal="user:grace"), ["a_3"]),
        (Filter(pack_id="notes"), ["a_2"]),
        (Filter(pack_id="note"), []),
        (Filter(verb_key="add"), ["a_2"]),
        (Filter(decision="denied"), ["a_4"]),
        (Filter(code="confirm_required"), ["a_4"]),
        (Filter(outcome="failed"), ["a_3"]),
        (Filter(principal=ADA, decision="allowed"), ["a_2", "a_1"]),
        (Filter(since=at(10)), ["a_4", "a_3", "a_2"]),
        (Filter(until=at(10)), ["a_2", "a_1"]),
        (Filter(since=at(10), until=at(11)), ["a_3", "a_2"]),
        (Filter(since=at(13)), []),
        (Filter(limit=1, principal=ADA), ["a_4"]),
        (Filter(limit=0), []),
    ],
)
def test_a_filter_keeps_what_fits_exactly(world: World, wanted: Filter, found: list[str]) -> None:
    settled(world, "a_1", at=at(9))
    settled(world, "a_2", at=at(10), pack_id="notes", verb_key="add")
    settled(world, "a_3", at=at(11), principal="user:grace", outcome="failed")
    settled(world, "a_4", at=at(12), decision="denied", code="confirm_required")
    assert ids(world, wanted) == found


def test_times_are_found_across_many_records_also_where_the_clock_jumped(world: World) -> None:
    hours = {number: (number * 7) % 24 for number in range(1, 1001)}
    for number, hour in hours.items():
        settled(world, f"a_{number}", at=at(hour, number % 60))
    for since, until in ((at(3), at(3, 59)), (at(0), at(1)), (at(22), None), (None, at(0, 10))):
        wanted = Filter(since=since, until=until, limit=None)
        expected = [
            f"a_{number}"
            for number in sorted(hours, reverse=True)
            if (since or "") <= at(hours[number], number % 60) <= (until or "~")
        ]
        assert ids(world, wanted) == expected


def test_only_blocks_with_such_times_are_read(world: World) -> None:
    for number in range(1, 1001):
        settled(world, f"a_{number}", at=at(number // 100))
    plan = world.database.all(
        "EXPLAIN QUERY PLAN SELECT a.place FROM audit_blocks b CROSS JOIN audit a WHERE b.chain = 1"
        " AND a.place BETWEEN b.last - 255 AND b.last ORDER BY b.last DESC, a.place DESC"
    )
    assert not any("TEMP B-TREE" in row[3] for row in plan)
    assert len(ids(world, Filter(since=at(4), until=at(4), limit=None))) == 100


def test_a_crashed_call_is_shown_also_where_somebody_deleted_its_open_intent(world: World) -> None:
    world.journal.intend(intent("a_1"), (), None)
    with world.database.writing(durable=False):
        world.database.run("DELETE FROM intents")
    (entry,) = world.views.list([TENANT], Filter())
    assert (entry["audit_id"], entry["outcome"]) == ("a_1", "unknown")
    shown = world.views.show("a_1")
    assert shown is not None
    assert shown["outcome"] == "unknown"


def test_a_call_that_ends_behind_the_asked_time_is_listed_where_it_ended(world: World) -> None:
    world.journal.intend(intent("a_1"), (), None)
    late = msgspec.structs.replace(outcome("a_1"), attribution=attribution(at=at(12)))
    world.journal.settle(late, started=True)
    assert ids(world, Filter(until=at(11))) == []
    assert ids(world, Filter(since=at(11))) == ["a_1"]


def test_several_tenants_are_merged_by_time(world: World) -> None:
    settled(world, "a_1", at=at(9))
    settled(world, "a_3", at=at(11))
    stranger = msgspec.structs.replace(attribution(session=None), at=at(10))
    world.journal.settle(record("x_2", whose=stranger, decision="denied"), started=False)
    assert ids(world, Filter(), (TENANT, SYSTEM)) == ["a_3", "x_2", "a_1"]
    assert ids(world, Filter(), (TENANT, "globex")) == ["a_3", "a_1"]
    assert ids(world, Filter(), ()) == []


def test_show_gives_the_call_and_each_of_its_records(world: World) -> None:
    world.journal.intend(intent("a_1"), (), None)
    running = world.views.show("a_1")
    assert running is not None
    assert (running["running"], running["kind"]) == (True, "intent")
    world.journal.settle(outcome("a_1"), started=True)
    shown = world.views.show("a_1")
    assert shown is not None
    assert (shown["tenant"], shown["kind"], shown["outcome"]) == (TENANT, "outcome", "ok")
    records = shown["records"]
    assert isinstance(records, list)
    assert [one["kind"] for one in records] == ["intent", "outcome"]
    assert records[1]["prev"] == records[0]["hash"]
    assert world.views.show("a_2") is None


def test_an_export_is_the_chain_line_by_line(world: World) -> None:
    settled(world, "a_1", at=at(9), args={"memo": "line\nbreak\u2028"})
    settled(world, "a_2", at=at(10))
    lines = list(world.views.export(TENANT))
    assert [json.loads(line)["audit_id"] for line in lines] == ["a_1", "a_2"]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert list(world.views.export(TENANT, since=at(10))) == lines[1:]
    assert list(world.views.export(TENANT, until=at(9))) == lines[:1]
    assert list(world.views.export("globex")) == []


def test_a_call_whose_intent_could_not_be_brought_to_disk_is_a_denied_one(world: World) -> None:
    world.journal.intend(intent("a_1"), (), None)
    world.processes.end("a_1")
    settled(world, "a_1", decision="denied", code="audit_unavailable")
    (entry,) = world.views.list([TENANT], Filter())
    assert (entry["kind"], entry["code"]) == ("entry", "audit_unavailable")
    assert world.views.unknown() == []

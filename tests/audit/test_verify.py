"""Spec 06 section 2: the chain names its first break, whatever was done to it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import pytest

from hcpx.audit.chain import beginning, body, link, opening
from hcpx.audit.verify import Break, Verdict, verify, verify_all
from hcpx.ports.rows import ChainedRecord, ChainHead
from hcpx.store.database import Database
from tests.store.world import TENANT, World, again, attribution, record

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 6
Tamper = Callable[[World], None]


def run(world: World, *statements: tuple[str, tuple[object, ...]]) -> None:
    with world.database.writing(durable=False):
        for sql, values in statements:
            world.database.run(sql, values)


def filled(world: World, count: int = COUNT) -> World:
    for number in range(1, count + 1):
        world.journal.settle(record(f"a_{number}", args={"n": number}), started=True)
    return world


def links(world: World) -> list[ChainedRecord]:
    with world.chains.forward(TENANT) as (_, records):
        return list(records)


def place(world: World, seq: int) -> int:
    row = world.database.one("SELECT id FROM chains WHERE tenant = ?", (TENANT,))
    assert row is not None
    return row[0] * 2**40 + seq


def shift(world: World, first: int, by: int) -> None:
    """Renumber the rows from `first` on, as somebody would who hides a gap or makes one."""
    many = 1_000_000
    run(
        world,
        ("UPDATE audit SET place = place + ? WHERE place >= ?", (many, place(world, first))),
        ("UPDATE audit SET place = place - ? WHERE place >= ?", (many - by, place(world, first + many))),
        ("UPDATE chains SET seq = seq + ? WHERE tenant = ?", (by, TENANT)),
    )


def put(world: World, seq: int, forged: ChainedRecord) -> None:
    sql = "INSERT INTO audit (place, audit_id, at, hash, record) VALUES (?, ?, ?, ?, CAST(? AS TEXT))"
    run(world, (sql, (place(world, seq), forged.audit_id, forged.at, forged.hash, forged.text)))


def test_a_chain_that_nobody_touched_holds(world: World) -> None:
    filled(world)
    assert verify_all(world.chains) == [Verdict(TENANT, COUNT)]
    assert verify(world.chains, "globex") == Verdict("globex", 0)


def test_the_hash_of_a_line_is_the_next_lines_prev(world: World) -> None:
    lines = [link.text for link in links(filled(world))]
    parsed = [json.loads(line) for line in lines]
    assert [one["seq"] for one in parsed] == list(range(1, COUNT + 1))
    assert [one["prev"] for one in parsed[1:]] == [hashlib.sha256(line).hexdigest() for line in lines[:-1]]
    assert bytes.fromhex(parsed[0]["prev"]) == beginning(TENANT).hash
    assert beginning(TENANT).hash != beginning("globex").hash


def test_a_chain_begins_with_several_records_in_one_transaction_also_after_one_that_failed(
    world: World,
) -> None:
    def begin(tenant: str) -> None:
        head = world.chains.head(tenant) or beginning(tenant)
        for number in range(2):
            one = record(f"{tenant}_{number}")
            linked = link(head, one, body(one))
            world.chains.append(tenant, linked)
            head = ChainHead(linked.seq, linked.hash)

    def broken() -> None:
        with world.database.writing(durable=False):
            begin("globex")
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    for tenant in ("initech", "globex", "initech"):
        with world.database.writing(durable=False):
            begin(tenant)
    assert verify_all(world.chains) == [Verdict("initech", 4), Verdict("globex", 2)]


def changed_text(world: World) -> None:
    run(
        world,
        (
            "UPDATE audit SET record = replace(record, '\"n\":3', '\"n\":9') WHERE place = ?",
            (place(world, 3),),
        ),
    )


def changed_text_with_its_hash(world: World) -> None:
    old = links(world)[2]
    text = old.text.replace(b'"n":3', b'"n":9')
    values = (text, hashlib.sha256(text).digest(), place(world, 3))
    run(world, ("UPDATE audit SET record = CAST(? AS TEXT), hash = ? WHERE place = ?", values))


def changed_hash(world: World) -> None:
    run(world, ("UPDATE audit SET hash = ? WHERE place = ?", (b"\0" * 32, place(world, 3))))


def changed_id_column(world: World) -> None:
    run(world, ("UPDATE audit SET audit_id = 'a_hidden' WHERE place = ?", (place(world, 3),)))


def changed_time_column(world: World) -> None:
    run(world, ("UPDATE audit SET at = '1999-01-01T00:00:00.000Z' WHERE place = ?", (place(world, 3),)))


def emptied_text(world: World) -> None:
    run(
        world,
        (
            "UPDATE audit SET record = '', hash = ? WHERE place = ?",
            (hashlib.sha256(b"").digest(), place(world, 3)),
        ),
    )


def removed(world: World) -> None:
    run(world, ("DELETE FROM audit WHERE place = ?", (place(world, 3),)))


def removed_and_renumbered(world: World) -> None:
    removed(world)
    shift(world, 4, -1)


def removed_with_all_behind(world: World) -> None:
    run(world, ("DELETE FROM audit WHERE place >= ?", (place(world, 3),)))


def swapped(world: World) -> None:
    run(
        world,
        ("UPDATE audit SET place = 1 WHERE place = ?", (place(world, 3),)),
        ("UPDATE audit SET place = ? WHERE place = ?", (place(world, 3), place(world, 5))),
        ("UPDATE audit SET place = ? WHERE place = 1", (place(world, 5),)),
    )


def moved_back(world: World) -> None:
    run(world, ("UPDATE audit SET place = 1 WHERE place = ?", (place(world, 3),)))
    shift(world, 4, -1)
    run(world, ("UPDATE audit SET place = ? WHERE place = 1", (place(world, 6),)))
    run(world, ("UPDATE chains SET seq = 6 WHERE tenant = ?", (TENANT,)))


def inserted_forged(world: World) -> None:
    second = links(world)[1]
    forged = record("a_forged")
    shift(world, 3, 1)
    put(world, 3, link(beginning(TENANT), forged, body(forged)))
    head = ChainHead(2, second.hash)
    run(world, ("DELETE FROM audit WHERE audit_id = 'a_forged'", ()))
    put(world, 3, link(head, forged, body(forged)))


def inserted_copy(world: World) -> None:
    first = links(world)[0]
    shift(world, 3, 1)
    put(world, 3, first)


def inserted_far_number(world: World) -> None:
    forged = record("a_forged")
    head = ChainHead(4, links(world)[1].hash)
    shift(world, 3, 1)
    put(world, 3, link(head, forged, body(forged)))


def appended_behind_the_end(world: World) -> None:
    last, forged = links(world)[-1], record("a_forged")
    put(world, COUNT + 1, link(ChainHead(COUNT, last.hash), forged, body(forged)))


def last_changed_with_its_hash(world: World) -> None:
    old = links(world)[-1]
    text = old.text.replace(b'"n":6', b'"n":9')
    values = (text, hashlib.sha256(text).digest(), place(world, COUNT))
    run(world, ("UPDATE audit SET record = CAST(? AS TEXT), hash = ? WHERE place = ?", values))


def last_removed(world: World) -> None:
    run(world, ("DELETE FROM audit WHERE place = ?", (place(world, COUNT),)))


def all_removed(world: World) -> None:
    run(world, ("DELETE FROM audit", ()))


def of_another_tenant(world: World) -> None:
    world.journal.settle(record("a_9", whose=msgspec.structs.replace(attribution(), tenant="globex")), started=True)
    run(world, ("UPDATE chains SET tenant = 'away' WHERE tenant = ?", (TENANT,)))
    run(world, ("UPDATE chains SET tenant = ? WHERE tenant = 'globex'", (TENANT,)))


@pytest.mark.parametrize(
    ("tamper", "sound", "seq", "kind"),
    [
        (changed_text, 2, 3, "changed"),
        (changed_text_with_its_hash, 2, 3, "changed"),
        (changed_hash, 2, 3, "changed"),
        (changed_id_column, 2, 3, "changed"),
        (changed_time_column, 2, 3, "changed"),
        (emptied_text, 2, 3, "changed"),
        (removed, 2, 3, "missing"),
        (removed_and_renumbered, 2, 3, "missing"),
        (removed_with_all_behind, 2, 3, "missing"),
        (swapped, 2, 3, "reordered"),
        (moved_back, 2, 3, "reordered"),
        (inserted_forged, 2, 3, "inserted"),
        (inserted_copy, 2, 3, "inserted"),
        (inserted_far_number, 2, 3, "inserted"),
        (appended_behind_the_end, 6, 7, "inserted"),
        (last_changed_with_its_hash, 5, 6, "changed"),
        (last_removed, 5, 6, "missing"),
        (all_removed, 0, 1, "missing"),
        (of_another_tenant, 0, 1, "changed"),
    ],
)
def test_the_first_break_is_named(world: World, tamper: Tamper, sound: int, seq: int, kind: str) -> None:
    tamper(filled(world))
    verdict = verify(world.chains, TENANT)
    assert verdict.broken is not None
    assert (verdict.records, verdict.broken.seq, verdict.broken.kind) == (sound, seq, kind)
    assert verdict.broken.message.startswith(f"record {seq} ")


def test_a_look_at_the_last_records_finds_breaks_there_and_no_older_ones(world: World) -> None:
    filled(world)
    assert [verify(world.chains, TENANT, last) for last in (2, COUNT, 99)] == [
        Verdict(TENANT, 2),
        Verdict(TENANT, COUNT),
        Verdict(TENANT, COUNT),
    ]
    changed_text(world)
    assert verify_all(world.chains, 2) == [Verdict(TENANT, 2)]
    broken = verify(world.chains, TENANT, 4).broken
    assert broken is not None
    assert (broken.seq, broken.kind) == (3, "changed")
    last_removed(world)
    assert verify(world.chains, TENANT, 2).broken == Break(6, "missing", "record 6 is missing, the chain had 6 records")


def test_a_page_of_the_audit_that_cannot_be_read_is_a_break(world: World, home: Path) -> None:
    filled(world, 200)
    with world.database.snapshot() as sql:
        (first,) = sql.execute("SELECT rootpage FROM sqlite_master WHERE name = 'audit'").fetchone()
        (size,) = sql.execute("PRAGMA page_size").fetchone()
    world.database._empty_log()
    world.database.close()
    with (home / "hcpx.db").open("r+b") as file:
        file.seek((first - 1) * size)
        file.write(b"\xa5" * size)
    reopened = World(Database.open(str(home)), world.clock)
    verdict = verify(reopened.chains, TENANT)
    assert verdict.broken is not None
    assert (verdict.broken.kind, verdict.broken.seq) == ("unreadable", 1)
    reopened.database.close()


def test_every_chain_of_the_store_is_checked(world: World) -> None:
    filled(world, 2)
    world.journal.settle(record("a_8", whose=msgspec.structs.replace(attribution(), tenant="globex")), started=True)
    world.journal.settle(record("a_9", whose=attribution(session=None)), started=False)
    run(world, ("UPDATE audit SET hash = ? WHERE audit_id = 'a_8'", (b"\0" * 32,)))
    assert verify_all(world.chains) == [
        Verdict(TENANT, 2),
        Verdict("globex", 0, Break(1, "changed", "record 1 was changed: its text is not what was hashed")),
        Verdict("@system", 1),
    ]


def test_a_check_sees_one_moment_while_others_go_on_writing(world: World) -> None:
    filled(world, 50)
    other, stop, found = again(world), threading.Event(), list[Verdict]()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            other.journal.settle(record(f"b_{number}"), started=True)

    writer = threading.Thread(target=write)
    writer.start()
    while len(found) < 20 or found[-1].records == found[0].records:
        found.append(verify(world.chains, TENANT))
    stop.set()
    writer.join()
    other.database.close()
    assert [verdict.broken for verdict in found] == [None] * len(found)


ZEROS = b"0" * 64


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b'{"seq":1}',
        b'{"seq":,"prev":"' + ZEROS + b'",',
        b'{"seq":-1,"prev":"' + ZEROS + b'",',
        b'{"seq":1,"prev":"zz",',
        b'{"seq":1,"prev":"' + b"g" * 64 + b'",',
        b'{"seq":1,"prev":"' + ZEROS[1:] + b'",',
        b'{"seq":1,"prev":"' + ZEROS + b'"}',
        b' {"seq":1,"prev":"' + ZEROS + b'",',
        b'{"seq":\xb2,"prev":"' + ZEROS + b'",',
    ],
)
def test_what_is_no_link_says_nothing_of_its_place(text: bytes) -> None:
    assert opening(text) is None


@pytest.mark.parametrize(
    "args",
    [
        {"memo": 'x"attribution":{"at":"1"},"seq":9,"prev":"'},
        {"attribution": {"at": "x"}, "audit_id": "a_other", "at": "y"},
        {"n": 10**4000, "f": 1e-7, "nan": float("nan")},
        {"lone": "\ud800", "\udfff": [None, True]},
        {"line": "ok\n2030-01-01T00:00:00Z ALLOW\r\x1b[2K\u2028"},
        None,
    ],
)
def test_whatever_args_hold_the_record_is_one_whole_line(world: World, args: object) -> None:
    world.journal.settle(record("a_1", args=args), started=True)
    (stored,) = links(world)
    assert b"\n" not in stored.text
    parsed = json.loads(stored.text)
    assert (parsed["audit_id"], parsed["at"], parsed["step"]) == ("a_1", "2026-12-01T08:00:00.000Z", 7)
    assert verify(world.chains, TENANT) == Verdict(TENANT, 1)


def test_a_record_is_flat_with_the_whole_attribution_tuple() -> None:
    fields = json.loads(body(record("a_1", decision="denied", code="denied")))
    assert list(fields)[:4] == ["step", "audit_id", "kind", "at"]
    assert {name: fields[name] for name in attribution().__struct_fields__} == msgspec.to_builtins(attribution())
    assert (fields["decision"], fields["code"]) == ("denied", "denied")
    assert "attribution" not in fields
    assert "outcome" not in fields

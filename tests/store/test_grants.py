"""Spec 01 section 1, grant; field troubles F3, F4, L2."""

from __future__ import annotations

import pytest

from hcpx.store.errors import Exists, NotFound, Refused
from hcpx.store.grant_rules import grant_from
from hcpx.vocabulary.capability import Grant
from tests.store.world import ADA, START, TENANT, World, again

READ = "verb.exec.read"


def test_a_grant_comes_back_as_it_was_given(world: World) -> None:
    grant = Grant(READ, "ledger", ("balance", "transfer"), '{"type":"object"}', START + 60)
    world.grants.add(TENANT, "user:grace", grant)
    assert world.live_grants.naming(TENANT, "user:grace", READ, "ledger") == (grant,)
    assert [(row.principal, row.grant) for row in world.grants.list(TENANT)] == [("user:grace", grant)]


def test_a_new_or_revoked_grant_is_seen_at_once_also_elsewhere(world: World) -> None:
    other = again(world)
    assert other.live_grants.naming(TENANT, ADA, READ, "ledger") == ()
    grant = Grant(READ, "*", ("*",))
    world.grants.add(TENANT, ADA, grant)
    assert other.live_grants.naming(TENANT, ADA, READ, "ledger") == (grant,)
    world.grants.revoke(TENANT, ADA, grant)
    assert other.live_grants.naming(TENANT, ADA, READ, "ledger") == ()
    other.database.close()


def test_a_disabled_or_unknown_principal_has_no_grant(world: World) -> None:
    grant = Grant(READ, "ledger", ("*",))
    world.grants.add(TENANT, "user:grace", grant)
    world.principals.disable(TENANT, "user:grace")
    assert world.live_grants.naming(TENANT, "user:grace", READ, "ledger") == ()
    assert world.live_grants.naming(TENANT, "user:nobody", READ, "ledger") == ()
    assert world.live_grants.naming("globex", "user:grace", READ, "ledger") == ()


def test_naming_gives_the_grants_for_a_capability_and_pack_only(world: World) -> None:
    named, for_all = Grant(READ, "ledger", ("balance",)), Grant(READ, "*", ("list",))
    others = [
        Grant(READ, "ledger-admin", ("balance",)),
        Grant(READ, "myledger", ("balance",)),
        Grant("verb.exec.write", "ledger", ("balance",)),
    ]
    for grant in (*others, named, for_all):
        world.grants.add(TENANT, ADA, grant)
    assert set(world.live_grants.naming(TENANT, ADA, READ, "ledger")) == {named, for_all}


def test_an_empty_list_of_commands_is_stored_as_one_and_covers_nothing(world: World) -> None:
    world.grants.add(TENANT, ADA, Grant(READ, "ledger", ()))
    (grant,) = world.live_grants.naming(TENANT, ADA, READ, "ledger")
    assert not grant.names(READ, "ledger", "balance", START)


@pytest.mark.parametrize(
    "grant",
    [
        Grant("verb.exec", "ledger", ("*",)),
        Grant("verb.exec.*", "ledger", ("*",)),
        Grant("*", "ledger", ("*",)),
        Grant(READ, "", ("*",)),
        Grant(READ, "led*", ("*",)),
        Grant(READ, "**", ("*",)),
        Grant(READ, " ledger", ("*",)),
        Grant(READ, "Ledger", ("*",)),
        Grant(READ, "../ledger", ("*",)),
        Grant(READ, "ledger\0", ("*",)),
        Grant(READ, "\ud800", ("*",)),
        Grant(READ, "a" * 65, ("*",)),
        Grant(READ, "ledger", ("bal*",)),
        Grant(READ, "ledger", ("balance", "")),
        Grant(READ, "ledger", ("balance ",)),
        Grant(READ, "ledger", ("a..b",)),
        Grant(READ, "ledger", ("a" * 129,)),
        Grant(READ, "ledger", tuple(f"v{n}" for n in range(1001))),
        Grant(READ, "ledger", ("*",), "{"),
        Grant(READ, "ledger", ("*",), "[]"),
        Grant(READ, "ledger", ("*",), '{"a":1,"a":2}'),
        Grant(READ, "ledger", ("*",), None, START),
        Grant(READ, "ledger", ("*",), None, float("inf")),
    ],
)
def test_what_is_no_grant_is_refused_and_leaves_nothing(world: World, grant: Grant) -> None:
    before = world.database.changes()
    with pytest.raises(Refused):
        world.grants.add(TENANT, "user:grace", grant)
    assert world.grants.list(TENANT) == []
    assert [row.id for row in world.principals.list(TENANT)] == [ADA]
    assert world.database.changes() == before


def test_a_pattern_is_refused_in_words(world: World) -> None:
    with pytest.raises(Refused, match=r"^verb_key 'bal\*': there is no pattern but \*, which stands for all$"):
        world.grants.add(TENANT, ADA, Grant(READ, "ledger", ("bal*",)))


@pytest.mark.parametrize("principal", ["ada", "user:", "User:ada", "user:ada\n", "user:*", ""])
def test_a_grant_to_nobody_is_refused(world: World, principal: str) -> None:
    with pytest.raises(Refused):
        world.grants.add(TENANT, principal, Grant(READ, "ledger", ("*",)))


def test_the_very_same_grant_twice_is_there_already(world: World) -> None:
    world.grants.add(TENANT, ADA, Grant(READ, "ledger", ("b", "a", "b")))
    with pytest.raises(Exists):
        world.grants.add(TENANT, ADA, Grant(READ, "ledger", ("a", "b")))
    world.grants.add(TENANT, ADA, Grant(READ, "ledger", ("a", "b"), None, START + 1))
    assert len(world.grants.list(TENANT, ADA)) == 2


def test_of_several_grants_one_bad_one_spoils_all(world: World) -> None:
    good = Grant(READ, "ledger", ("*",))
    with pytest.raises(Refused):
        world.grants.add_all(TENANT, [(ADA, good), (ADA, Grant(READ, "led*", ("*",)))])
    with pytest.raises(Exists):
        world.grants.add_all(TENANT, [(ADA, good), (ADA, good)])
    assert world.grants.list(TENANT) == []


def test_revoking_takes_the_named_grant_and_no_other(world: World) -> None:
    wide, narrow = Grant(READ, "ledger", ("*",)), Grant(READ, "ledger", ("balance",))
    for grant in (wide, narrow, until(narrow)):
        world.grants.add(TENANT, ADA, grant)
    assert len(world.grants.revoke(TENANT, ADA, narrow)) == 2
    assert world.live_grants.naming(TENANT, ADA, READ, "ledger") == (wide,)
    with pytest.raises(NotFound):
        world.grants.revoke(TENANT, ADA, narrow)


def until(grant: Grant) -> Grant:
    return Grant(grant.capability, grant.pack_id, grant.verb_keys, None, START + 60)


def test_revoking_by_number_stays_in_its_tenant(world: World) -> None:
    row = world.grants.add("globex", ADA, Grant(READ, "ledger", ("*",)))
    for tenant, number in ((TENANT, row.id), ("globex", row.id + 1)):
        with pytest.raises(NotFound):
            world.grants.revoke_id(tenant, number)
    world.grants.revoke_id("globex", row.id)
    assert world.grants.list("globex") == []


def test_a_written_grant_is_read_as_it_stands() -> None:
    fields = {
        "capability": READ,
        "pack_id": "ledger",
        "verb_keys": ["balance"],
        "args_schema": {"type": "object"},
        "until": START + 1,
    }
    assert grant_from(fields, START) == Grant(READ, "ledger", ("balance",), '{"type":"object"}', START + 1)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"capability": READ, "pack_id": "ledger", "verb_key": ["balance"]}, "did you mean verb_keys"),
        ({"capability": READ, "pack_id": "ledger"}, "needs verb_keys"),
        ({"capability": READ, "pack_id": "ledger", "verb_keys": None}, "needs verb_keys"),
        ({"capability": READ, "pack_id": "ledger", "verb_keys": "balance"}, "needs verb_keys"),
        ({"capability": READ, "pack_id": "ledger", "verb_keys": [1]}, "no text"),
        ({"capability": READ, "verb_keys": ["*"]}, "needs capability and pack_id"),
        ({"capability": READ, "pack_id": "ledger", "verb_keys": ["*"], "until": True}, "until"),
        ({"capability": READ, "pack_id": "ledger", "verb_keys": ["*"], "until": "2030"}, "until"),
        ({"capability": READ, "pack_id": "ledger", "verb_keys": ["*"], "args_schema": [1]}, "args_schema"),
        (
            {"capability": "verb.exec.reed", "pack_id": "ledger", "verb_keys": ["*"]},
            "did you mean verb.exec.read",
        ),
    ],
)
def test_a_written_grant_with_anything_wrong_is_refused_in_words(fields: dict[str, object], says: str) -> None:
    with pytest.raises(Refused, match=says):
        grant_from(fields, START)


def test_thousands_of_grants_of_others_change_nothing_for_one(world: World) -> None:
    mine = Grant(READ, "ledger", ("*",))
    world.grants.add(TENANT, ADA, mine)
    world.grants.add_all(TENANT, [(f"user:u{n}", mine) for n in range(2000)])
    assert world.live_grants.naming(TENANT, ADA, READ, "ledger") == (mine,)

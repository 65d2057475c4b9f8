"""The smaller rows: packs, overlays, this host's, the vault's, kept results, signals."""

from __future__ import annotations

import msgspec
import pytest

from hcpx.ports.rows import PackRow, SecretRow
from hcpx.store import signals
from hcpx.store.errors import NotFound, Refused
from hcpx.vocabulary.policy import Overlay
from hcpx.vocabulary.principal import Project, Session
from hcpx.vocabulary.signal import Signal
from tests.store.world import ADA, TENANT, World, again

PACK = PackRow(TENANT, "ledger", "1.0.0", "Demo ledger", "sha256:aa", "sha256-aa", False, b"\0\xff", 1.0)
SECRET = SecretRow(TENANT, ADA, "ledger", "user", b"nonce", b"\0sealed\xff", {"scopes": ["a"]}, 2.0)


def test_a_pack_is_found_by_exactly_its_tenant_and_id(world: World) -> None:
    assert world.packs.find(TENANT, "ledger") is None
    assert world.packs.put(PACK, replace=False) is True
    assert world.packs.find(TENANT, "ledger") == PACK
    for tenant, pack_id in (("globex", "ledger"), (TENANT, "Ledger"), (TENANT, "ledge"), (TENANT, "ledger ")):
        assert world.packs.find(tenant, pack_id) is None
    assert world.packs.list(TENANT) == [PACK]


def test_another_pack_of_that_id_needs_replace(world: World) -> None:
    newer = msgspec.structs.replace(PACK, digest="sha256:bb", root="sha256-bb")
    world.packs.put(PACK, replace=False)
    assert world.packs.put(PACK, replace=False) is True, "the very same one"
    assert world.packs.put(newer, replace=False) is False
    assert world.packs.find(TENANT, "ledger") == PACK
    assert world.packs.put(newer, replace=True) is True
    assert world.packs.find(TENANT, "ledger") == newer


def test_removing_a_pack_gives_its_row_and_other_processes_notice(world: World) -> None:
    other = again(world)
    world.packs.put(PACK, replace=False)
    assert other.packs.find(TENANT, "ledger") == PACK
    assert world.packs.roots() == ["sha256-aa"]
    assert world.packs.remove(TENANT, "ledger") == PACK
    assert world.packs.remove(TENANT, "ledger") is None
    assert other.packs.find(TENANT, "ledger") is None
    assert world.packs.roots() == []
    other.database.close()


@pytest.mark.parametrize("pack_id", ["../ledger", "", "Ledger", "a" * 65, "ledger\0"])
def test_a_pack_under_no_pack_id_is_refused(world: World, pack_id: str) -> None:
    with pytest.raises(Refused):
        world.packs.put(msgspec.structs.replace(PACK, pack_id=pack_id), replace=True)


def test_overlays_only_grow_stricter(world: World) -> None:
    first = Overlay(confirm=True, approvals=2, limits={"timeout_s": 30, "memory_mb": 64}, args_schema='{"a":1}')
    loose = Overlay(approvals=1, deny=True, limits={"timeout_s": 60, "processes": 1}, args_schema='{"b":2}')
    world.overlays.tighten(TENANT, "ledger", "transfer", first)
    both = world.overlays.tighten(TENANT, "ledger", "transfer", loose)
    assert both == Overlay(
        confirm=True,
        approvals=2,
        deny=True,
        limits={"timeout_s": 30, "memory_mb": 64, "processes": 1},
        args_schema=('{"a":1}', '{"b":2}'),
    )
    assert world.overlays.find(TENANT, "ledger", "transfer") == both
    assert world.overlays.list(TENANT) == [("ledger", "transfer", both)]


def test_an_overlay_lies_on_one_command_of_one_pack_in_one_tenant(world: World) -> None:
    other = again(world)
    assert other.overlays.find(TENANT, "ledger", "transfer") is None
    world.overlays.tighten(TENANT, "ledger", "transfer", Overlay(deny=True))
    assert other.overlays.find(TENANT, "ledger", "transfer") == Overlay(deny=True)
    for place in (
        (TENANT, "ledger", "transfers"),
        (TENANT, "notes", "transfer"),
        ("globex", "ledger", "transfer"),
    ):
        assert other.overlays.find(*place) is None
    other.database.close()


def test_the_allow_list_knows_names_as_they_were_asked_for(world: World) -> None:
    world.allowed.allow("git", "/usr/bin/git")
    world.allowed.allow("/opt/x", "/opt/x-1")
    world.allowed.allow("git", "/usr/local/bin/git")
    assert world.allowed.list() == {"/opt/x": "/opt/x-1", "git": "/usr/local/bin/git"}
    assert [world.allowed.real_path(name) for name in ("git", "./git", "git ", "")] == [
        "/usr/local/bin/git",
        None,
        None,
        None,
    ]
    world.allowed.remove("git")
    assert world.allowed.real_path("git") is None
    with pytest.raises(NotFound):
        world.allowed.remove("git")


@pytest.mark.parametrize(("name", "path"), [("git ", "/usr/bin/git"), ("", "/x"), ("git", "bin/git"), ("git", "")])
def test_a_name_with_blanks_or_no_real_path_is_never_allowed(world: World, name: str, path: str) -> None:
    with pytest.raises(Refused):
        world.allowed.allow(name, path)


def test_settings_are_texts_under_names(world: World) -> None:
    world.settings.put("sandbox", "native-local")
    world.settings.put("sandbox", "sandbox")
    assert world.settings.all() == {"sandbox": "sandbox"}
    world.settings.remove("sandbox")
    assert world.settings.all() == {}
    with pytest.raises(NotFound):
        world.settings.remove("sandbox")


def test_a_sealed_secret_comes_back_byte_by_byte(world: World) -> None:
    assert world.vault.put(SECRET) is True
    assert world.vault.get(TENANT, ADA, "ledger", "user") == SECRET
    assert world.vault.get(TENANT, ADA, "ledger", "mothership") is None
    newer = msgspec.structs.replace(SECRET, ciphertext=b"other")
    world.vault.put(newer)
    assert (world.vault.list(), world.vault.list(TENANT), world.vault.list("globex")) == (
        [newer],
        [newer],
        [],
    )
    assert world.vault.delete(TENANT, ADA, "ledger", "user") is True
    assert world.vault.delete(TENANT, ADA, "ledger", "user") is False


def test_of_two_first_facts_about_the_vault_one_holds(world: World) -> None:
    assert world.vault.meta("key") is None
    assert world.vault.settle_meta("key", b"one") == b"one"
    assert world.vault.settle_meta("key", b"two") == b"one"


def test_nothing_is_sealed_under_a_key_that_was_rotated_away(world: World) -> None:
    world.vault.settle_meta("key", b"one")
    assert world.vault.put(SECRET, under=("key", b"one")) is True
    world.vault.renew(lambda row: msgspec.structs.replace(row, nonce=b"two"), {"key": b"two"})
    late = msgspec.structs.replace(SECRET, ciphertext=b"late")
    assert world.vault.put(late, under=("key", b"one")) is False
    assert world.vault.get(TENANT, ADA, "ledger", "user") == msgspec.structs.replace(SECRET, nonce=b"two")


def test_a_rotation_that_breaks_off_has_changed_nothing(world: World) -> None:
    world.vault.settle_meta("key", b"one")
    rows = [msgspec.structs.replace(SECRET, pack_id=name) for name in ("a", "b", "c")]
    for row in rows:
        world.vault.put(row)

    def renew(row: SecretRow) -> SecretRow:
        if row.pack_id == "c":
            raise ValueError(row.pack_id)
        return msgspec.structs.replace(row, ciphertext=b"new")

    with pytest.raises(ValueError, match="c"):
        world.vault.renew(renew, {"key": b"two"})
    assert (world.vault.list(), world.vault.meta("key")) == (rows, b"one")
    assert world.vault.renew(lambda row: msgspec.structs.replace(row, nonce=b"n"), {"key": b"two"}) == 3


def test_a_principal_is_known_after_a_grant_or_a_session_and_stays_disabled(world: World) -> None:
    world.principals.disable(TENANT, ADA)
    world.token()
    assert [(row.id, row.enabled) for row in world.principals.list(TENANT)] == [(ADA, False)]
    with pytest.raises(NotFound):
        world.principals.disable(TENANT, "user:nobody")
    with pytest.raises(NotFound):
        world.principals.enable("globex", ADA)


# --- kept results -------------------------------------------------------------------------------------------


def session(project: str | None = "p1") -> Session:
    return Session("s_1", TENANT, ADA, "agent:claude", Project(project, "/p") if project else None)


def test_a_kept_result_comes_back_with_its_attribution(world: World) -> None:
    assert world.brain.keep(session(), "a_1", "ledger", "balance", b'{"n":1}') is None
    kept = world.brain.show(TENANT, "a_1")
    assert msgspec.structs.astuple(kept) == (
        TENANT,
        "p1",
        "a_1",
        world.clock.at,
        ADA,
        "agent:claude",
        "s_1",
        "ledger",
        "balance",
        7,
        b'{"n":1}',
    )
    assert world.brain.list(TENANT, "p1") == [msgspec.structs.replace(kept, result=None)]
    assert world.brain.list("globex", "p1") == []
    with pytest.raises(NotFound):
        world.brain.show("globex", "a_1")


def test_beyond_its_quota_a_project_keeps_nothing_more_and_loses_nothing(world: World) -> None:
    assert world.brain.keep(session(), "a_1", "ledger", "balance", b"x" * 600) is None
    why = world.brain.keep(session(), "a_2", "ledger", "balance", b"x" * 401)
    assert why is not None
    assert "600 of 1000 bytes" in why
    assert world.brain.keep(session("p2"), "a_3", "ledger", "balance", b"x" * 1000) is None
    assert world.brain.remove(TENANT, "a_1").size == 600
    assert world.brain.keep(session(), "a_2", "ledger", "balance", b"x" * 1000) is None
    assert [one.audit_id for one in world.brain.list(TENANT, "p1")] == ["a_2"]


def test_a_result_without_a_project_is_not_kept(world: World) -> None:
    assert world.brain.keep(session(None), "a_1", "ledger", "balance", b"1") == "the session has no project"


# --- signals ------------------------------------------------------------------------------------------------


def signal(number: int, key: str = "badge") -> Signal:
    return Signal(f"g_{number}", float(number), TENANT, "ledger", key, "info", "text\n", {"n": number}, 60.0)


def test_signals_are_numbered_so_that_a_stream_goes_on_where_it_broke_off(world: World) -> None:
    for number in range(1, 5):
        world.signals.emit(signal(number))
    numbered = world.signals.after(TENANT, 2)
    assert [one.signal for one in numbered] == [signal(3), signal(4)]
    assert world.signals.after(TENANT, numbered[-1].number) == []
    assert [one.signal for one in world.signals.newest(TENANT, 1)] == [signal(4)]
    assert world.signals.newest("globex") == []


def test_the_latest_signal_of_a_pack_and_key_is_found(world: World) -> None:
    for number, key in ((1, "badge"), (2, "credential"), (3, "badge"), (4, "other")):
        world.signals.emit(signal(number, key))
    latest = world.signals.latest(TENANT, "ledger", "badge")
    assert latest is not None
    assert latest.signal == signal(3)
    assert world.signals.latest(TENANT, "ledger", "nothing") is None


def test_a_signal_that_cannot_be_kept_harms_nobody(world: World) -> None:
    world.signals.emit(signal(1))
    world.signals.emit(signal(1))
    assert len(world.signals.newest(TENANT)) == 1


def test_the_oldest_signals_make_room(world: World) -> None:
    with world.database.writing(durable=False):
        for number in range(1, signals.MOST + 300):
            values = (f"g_{number}", 1.0, TENANT, "ledger", "badge", "info", "", "{}", None)
            world.database.run(signals.queries.SIGNAL_ADD, values)
    for number in range(signals.MOST + 300, signals.MOST + 300 + 256):
        world.signals.emit(signal(number))
    kept = world.signals.after(TENANT, 0, limit=2 * signals.MOST)
    assert signals.MOST <= len(kept) < signals.MOST + 256
    assert kept[0].number > 1
    assert kept[-1].signal == signal(signals.MOST + 555)

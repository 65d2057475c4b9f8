"""Spec 01 section 1, session and project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from hcpx.ports import Credential
from hcpx.store.errors import Exists, NotFound, Refused
from hcpx.store.session_rows import NewSession
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.principal import Project, Session
from tests.store.world import ADA, OWNER, TENANT, World, again

if TYPE_CHECKING:
    from pathlib import Path

AGENT = "agent:claude"
READ = Grant("verb.exec.read", "ledger", ("*",))


def test_a_token_finds_its_session_with_all_that_was_asked_for(world: World, tmp_path: Path) -> None:
    world.projects.add(TENANT, "p1", str(tmp_path))
    asked = NewSession(TENANT, ADA, AGENT, "p1", (READ,), world.clock.at + 60, {"ledger": "sha256:aa"})
    token, row = world.sessions.new(asked)
    assert world.live.live(Credential(token)) == Session(
        id=row.id,
        tenant=TENANT,
        principal=ADA,
        actor=AGENT,
        project=Project("p1", str(tmp_path.resolve())),
        activations={"ledger": "sha256:aa"},
        scope=(READ,),
        expires_at=world.clock.at + 60,
        owner=False,
    )


def test_without_a_token_the_owner_of_the_store_calls(world: World) -> None:
    session = world.live.live(OWNER)
    assert session is not None
    assert (session.principal, session.tenant, session.owner, session.scope) == (ADA, TENANT, True, None)


@pytest.mark.parametrize("token", ["", "hcps_", "hcps_nobody", "\ud800", "x" * 100_000, "hcps_\0"])
def test_any_other_token_is_nobody(world: World, token: str) -> None:
    assert world.live.live(Credential(token)) is None


def test_a_token_is_in_no_file_of_the_store(world: World, home: Path) -> None:
    token = world.token()
    assert not any(token.encode() in file.read_bytes() for file in home.iterdir())


def test_tokens_are_long_and_never_alike(world: World) -> None:
    tokens = {world.token() for _ in range(50)}
    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {len("hcps_") + 43}


def test_a_session_dies_at_the_second_it_expires(world: World) -> None:
    token = world.token(NewSession(TENANT, ADA, expires_at=world.clock.at + 60))
    world.clock.turn(59.9)
    assert world.live.live(Credential(token)) is not None
    world.clock.turn(0.1)
    assert world.live.live(Credential(token)) is None


def test_a_revoked_session_is_dead_at_once_also_elsewhere(world: World) -> None:
    token, row = world.sessions.new(NewSession(TENANT, ADA))
    other = again(world)
    assert other.live.live(Credential(token)) is not None
    assert world.sessions.revoke(row.id).live is False
    assert other.live.live(Credential(token)) is None
    assert world.sessions.revoke(row.id).revoked_at == world.clock.at
    other.database.close()


@pytest.mark.parametrize("switched_off", [ADA, AGENT])
def test_a_session_is_dead_while_its_principal_or_actor_is_disabled(world: World, switched_off: str) -> None:
    token = world.token(NewSession(TENANT, ADA, AGENT))
    assert world.live.live(Credential(token)) is not None
    world.principals.disable(TENANT, switched_off)
    assert world.live.live(Credential(token)) is None
    world.principals.enable(TENANT, switched_off)
    assert world.live.live(Credential(token)) is not None


@pytest.mark.parametrize("end", ["revoked", "expired", "disabled"])
def test_a_session_that_ends_is_dead_when_it_is_asked_for_again(world: World, end: str) -> None:
    token, row = world.sessions.new(NewSession(TENANT, ADA, expires_at=world.clock.at + 60))
    session = world.live.live(Credential(token))
    assert session is not None
    assert world.live.again(session) == session
    if end == "revoked":
        world.sessions.revoke(row.id)
    elif end == "expired":
        world.clock.turn(60)
    else:
        world.principals.disable(TENANT, ADA)
    assert world.live.again(session) is None


def test_the_owners_session_asked_for_again_keeps_its_project_and_sees_changes(world: World, tmp_path: Path) -> None:
    world.projects.add(TENANT, "here", str(tmp_path))
    session = world.live.live(Credential(None, str(tmp_path)))
    assert session is not None
    world.sessions.activate(session.id, "ledger", "sha256:1")
    assert world.live.again(session) == msgspec.structs.replace(session, activations={"ledger": "sha256:1"})


def test_the_owner_is_dead_too_while_disabled(world: World) -> None:
    world.principals.disable(TENANT, ADA)
    assert world.live.live(OWNER) is None


def test_a_principal_of_another_tenant_is_somebody_else(world: World) -> None:
    token = world.token(NewSession("globex", ADA))
    world.principals.disable(TENANT, ADA)
    session = world.live.live(Credential(token))
    assert session is not None
    assert session.tenant == "globex"


def test_an_empty_scope_stays_an_empty_scope(world: World) -> None:
    token = world.token(NewSession(TENANT, ADA, scope=()))
    session = world.live.live(Credential(token))
    assert session is not None
    assert session.scope == ()


@pytest.mark.parametrize(
    "asked",
    [
        NewSession("null", ADA),
        NewSession("Acme", ADA),
        NewSession(TENANT, "ada"),
        NewSession(TENANT, "user:"),
        NewSession(TENANT, ADA, actor="claude"),
        NewSession(TENANT, ADA, expires_at=1.0),
        NewSession(TENANT, ADA, expires_at=float("nan")),
        NewSession(TENANT, ADA, scope=(Grant("verb.exec.read", "led*", ("*",)),)),
        NewSession(TENANT, ADA, activations={"../ledger": "d"}),
    ],
)
def test_what_is_no_session_is_refused_and_leaves_nothing(world: World, asked: NewSession) -> None:
    before = (world.sessions.list(TENANT), world.principals.tenants(), world.database.changes())
    with pytest.raises(Refused):
        world.sessions.new(asked)
    assert (world.sessions.list(TENANT), world.principals.tenants(), world.database.changes()) == before


def test_a_session_for_a_project_that_nobody_registered_is_refused_and_leaves_nothing(world: World) -> None:
    with pytest.raises(NotFound, match="hcpx project add"):
        world.sessions.new(NewSession("globex", ADA, project="p9"))
    assert world.principals.tenants() == [TENANT]


def test_activation_pins_a_digest_and_can_be_moved_and_taken_off(world: World) -> None:
    token, row = world.sessions.new(NewSession(TENANT, ADA))
    world.sessions.activate(row.id, "ledger", "d1")
    world.sessions.activate(row.id, "ledger", "d2")
    world.sessions.activate(row.id, "notes", "d3")
    assert world.sessions.show(row.id).activations == {"ledger": "d2", "notes": "d3"}
    world.sessions.deactivate(row.id, "ledger")
    session = world.live.live(Credential(token))
    assert session is not None
    assert session.activations == {"notes": "d3"}
    with pytest.raises(NotFound):
        world.sessions.deactivate(row.id, "ledger")
    with pytest.raises(NotFound):
        world.sessions.activate("s_nobody", "ledger", "d1")


def test_the_owners_session_cannot_be_revoked(world: World) -> None:
    with pytest.raises(Refused):
        world.sessions.revoke(world.sessions.owner().id)
    assert world.live.live(OWNER) is not None


def test_a_list_tells_who_is_live(world: World) -> None:
    _, ended = world.sessions.new(NewSession(TENANT, ADA, expires_at=world.clock.at + 1))
    _, running = world.sessions.new(NewSession(TENANT, "user:grace"))
    world.clock.turn(2)
    listed = {row.id: row.live for row in world.sessions.list(TENANT)}
    assert listed == {world.sessions.owner().id: True, ended.id: False, running.id: True}


@pytest.mark.parametrize("session_id", ["s_nobody", "", "\ud800", "' OR 1=1 --"])
def test_a_session_that_is_not_there_is_not_found_or_refused(world: World, session_id: str) -> None:
    with pytest.raises((NotFound, Refused)):
        world.sessions.revoke(session_id)


# --- the owner's project ------------------------------------------------------------------------------------


def project_at(world: World, cwd: Path | str | None) -> str | None:
    session = world.live.live(Credential(None, None if cwd is None else str(cwd)))
    assert session is not None
    return session.project.id if session.project else None


def test_the_owners_project_is_the_innermost_registered_one_around_the_cwd(world: World, tmp_path: Path) -> None:
    for path in ("shop/api/deep", "shop-old", "elsewhere"):
        (tmp_path / path).mkdir(parents=True)
    world.projects.add(TENANT, "shop", str(tmp_path / "shop"))
    world.projects.add(TENANT, "api", str(tmp_path / "shop" / "api"))
    assert project_at(world, tmp_path / "shop") == "shop"
    assert project_at(world, tmp_path / "shop" / "api" / "deep") == "api"
    assert project_at(world, tmp_path / "shop" / "api" / ".." / "..") is None
    assert project_at(world, tmp_path / "shop-old") is None, "a sibling whose name begins alike"
    assert project_at(world, tmp_path / "elsewhere") is None
    assert project_at(world, tmp_path / "gone") is None
    assert project_at(world, None) is None
    assert project_at(world, "nul\0") is None


def test_links_are_resolved_before_a_project_is_looked_for(world: World, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "out").symlink_to(tmp_path / "other")
    world.projects.add(TENANT, "real", str(tmp_path / "link"))
    assert project_at(world, tmp_path / "link") == "real"
    assert project_at(world, tmp_path / "real" / "out") is None


def test_a_session_with_a_token_takes_no_project_from_the_cwd(world: World, tmp_path: Path) -> None:
    world.projects.add(TENANT, "p1", str(tmp_path))
    session = world.live.live(Credential(world.token(), str(tmp_path)))
    assert session is not None
    assert session.project is None


def test_a_removed_project_is_in_no_session_any_more(world: World, tmp_path: Path) -> None:
    world.projects.add(TENANT, "p1", str(tmp_path))
    token = world.token(NewSession(TENANT, ADA, project="p1"))
    assert project_at(world, tmp_path) == "p1"
    world.projects.remove(TENANT, "p1")
    session = world.live.live(Credential(token))
    assert session is not None
    assert session.project is None
    assert project_at(world, tmp_path) is None
    with pytest.raises(NotFound):
        world.projects.remove(TENANT, "p1")


def test_a_project_is_one_id_and_one_directory(world: World, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "file").touch()
    world.projects.add(TENANT, "a", str(tmp_path / "a"))
    for project_id, directory in (("a", str(tmp_path)), ("b", str(tmp_path / "a" / "."))):
        with pytest.raises(Exists):
            world.projects.add(TENANT, project_id, directory)
    for project_id in ("true", "null", "A", "a_b", "../a", ""):
        with pytest.raises(Refused):
            world.projects.add(TENANT, project_id, str(tmp_path))
    with pytest.raises(NotFound):
        world.projects.add(TENANT, "c", str(tmp_path / "gone"))
    with pytest.raises(Refused):
        world.projects.add(TENANT, "c", str(tmp_path / "file"))
    assert [project.id for project in world.projects.list(TENANT)] == ["a"]

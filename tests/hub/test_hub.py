"""Bindings come from what was connected for this principal and pack, and from nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import msgspec
import pytest

from hcpx.hub.connections import Connection, Connections
from hcpx.hub.hub import Hub
from hcpx.vocabulary.binding import PUBLIC, Binding
from hcpx.vocabulary.denial import Denial, deny
from tests.hub.world import ADA, NOW, World, ask, stored


def missing(family: str) -> Denial:
    return deny("binding_missing", family=family, pack_id="ledger")


def connect(world: World, secret: str, principal: str = "user:ada", family: str = "user", **more: float) -> str:
    kept = Connections(world.vault()).keep_secret("acme", principal, "ledger", family, secret, **more)
    assert isinstance(kept, Connection)
    return kept.credential_id


def test_public_needs_nothing(world: World) -> None:
    assert world.hub().mint(ask("public")) is PUBLIC
    assert world.hub().state(ask("public")) is None


@pytest.mark.parametrize("family", ["user", "local", "mothership", "nonsense"])
def test_nothing_connected_is_a_denial(world: World, family: str) -> None:
    assert world.hub().mint(ask(family)) == missing(family)
    assert world.hub().state(ask(family)) == missing(family)
    assert missing(family).error == f"binding {family} for ledger: not connected"
    assert not (world.home / "vault.key").exists()


@pytest.mark.parametrize("family", ["user", "local", "mothership"])
def test_a_pasted_secret_becomes_a_binding(world: World, family: str) -> None:
    credential = connect(world, "tok-ada-1", family=family, expires_at=NOW + 60)
    request = ask(
        family,
        env={
            "TOKEN": "{{access_token}}",
            "AUTH": "Bearer {{secret}}",
            "END": "{{expires_at}}",
            "PLAIN": "{x} {{ y }}",
        },
        file=("token.json", '{"t": "{{secret}}"}', "TOKEN_FILE"),
    )
    assert world.hub().state(request) is None
    assert world.hub().mint(request) == Binding(
        family,
        env={
            "TOKEN": "tok-ada-1",
            "AUTH": "Bearer tok-ada-1",
            "END": "2027-01-15T08:01:00Z",
            "PLAIN": "{x} {{ y }}",
        },
        file=("token.json", '{"t": "tok-ada-1"}', "TOKEN_FILE"),
        secrets=("tok-ada-1",),
        credential_id=credential,
        expires_at=NOW + 60,
    )


def test_a_secret_without_an_end_fills_an_empty_one(world: World) -> None:
    connect(world, "tok-ada-1")
    binding = world.hub().mint(ask(env={"END": "<{{expires_at}}>"}))
    assert isinstance(binding, Binding)
    assert (binding.env, binding.expires_at) == ({"END": "<>"}, None)


def test_what_was_filled_in_is_not_filled_again(world: World) -> None:
    connect(world, "{{expires_at}}{{nope}}")
    binding = world.hub().mint(ask(env={"A": "{{secret}}{{secret}}"}))
    assert isinstance(binding, Binding)
    assert binding.env == {"A": "{{expires_at}}{{nope}}" * 2}


@pytest.mark.parametrize(
    "changes",
    [
        {"env": {"LEDGER_TOKEN": "{{acces_token}}"}},
        {"env": {}, "file": ("f", "{{nope}} {{secret}}", "LEDGER_TOKEN")},
    ],
)
def test_an_unknown_template_name_is_a_denial(world: World, changes: dict[str, object]) -> None:
    connect(world, "tok-ada-1")
    request = msgspec.structs.replace(ask(), **changes)
    denial = world.hub().mint(request)
    assert isinstance(denial, Denial)
    assert denial == world.hub().state(request)
    assert (denial.code, denial.step) == ("binding_forbidden", 5)
    assert denial.error.startswith("binding user for ledger: forbidden: LEDGER_TOKEN asks for ")
    assert denial.hint == "change the template of LEDGER_TOKEN under binding in the pack's pack.yaml"
    assert "tok-ada" not in repr(denial)


def test_an_expired_secret_is_stale_from_the_second_it_ends(world: World) -> None:
    connect(world, "tok-ada-1", expires_at=NOW + 60)
    world.clock.time = NOW + 59.9
    assert isinstance(world.hub().mint(ask()), Binding)
    world.clock.time = NOW + 60
    stale = deny("binding_stale", family="user", pack_id="ledger", why="expired at 2027-01-15T08:01:00Z")
    assert world.hub().mint(ask()) == stale
    assert world.hub().state(ask()) == stale


def test_each_principal_and_tenant_gets_its_own(world: World) -> None:
    connect(world, "tok-ada-1")
    connect(world, "tok-grace-1", principal="user:grace")
    answers: dict[str, set[object]] = {"user:ada": set(), "user:grace": set(), "user:eve": set()}
    hub = world.hub()

    def twenty(principal: str) -> None:
        for _ in range(20):
            minted = hub.mint(ask(principal=principal))
            answers[principal].add(minted.env["LEDGER_TOKEN"] if isinstance(minted, Binding) else minted.error)

    threads = [threading.Thread(target=twenty, args=(principal,)) for principal in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {
        "user:ada": {"tok-ada-1"},
        "user:grace": {"tok-grace-1"},
        "user:eve": {"binding user for ledger: not connected"},
    }
    assert hub.mint(ask(tenant="other")) == missing("user")
    assert hub.mint(ask(pack_id="bank")) == deny("binding_missing", family="user", pack_id="bank")


def test_one_family_never_stands_in_for_another(world: World) -> None:
    connect(world, "tok-mothership", family="mothership")
    assert world.hub().mint(ask("user")) == missing("user")
    assert world.hub().mint(ask("local")) == missing("local")
    assert isinstance(world.hub().mint(ask("mothership", principal="user:grace")), Binding)


def test_a_mock_has_the_same_names_and_no_secret(world: World) -> None:
    connect(world, "tok-ada-1")
    request = ask(
        "mock",
        env={"LEDGER_TOKEN": "Bearer {{access_token}}", "OTHER": "{{whatever}}"},
        file=("cfg", '{"key": "{{secret}}", "n": 1}', "LEDGER_FILE"),
    )
    assert world.hub().mint(request) == Binding(
        "mock",
        env={"LEDGER_TOKEN": "mock-LEDGER_TOKEN", "OTHER": "mock-OTHER"},
        file=("cfg", '{"key": "mock-LEDGER_FILE", "n": 1}', "LEDGER_FILE"),
    )
    assert world.hub().state(request) is None


def test_a_row_of_another_place_is_forbidden_and_stays(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    row = world.vault().look(ADA)
    assert row is not None
    world.rows.put(msgspec.structs.replace(row, principal="user:eve"))
    denial = world.hub().mint(ask(principal="user:eve"))
    assert isinstance(denial, Denial)
    assert denial.code == "binding_forbidden"
    assert denial.error == (
        "binding user for ledger: forbidden: the stored secret of ledger (user, user:eve) does not belong"
        " where it lies, or was changed; run: hcpx connect ledger"
    )
    assert len(world.rows.list()) == 2


def test_a_key_that_cannot_be_had_makes_a_binding_unavailable(world: World) -> None:
    connect(world, "tok-ada-1")
    (world.home / "vault.key").chmod(0o644)
    denial = world.hub().mint(ask())
    assert isinstance(denial, Denial)
    assert (denial.code, denial.hint) == ("binding_unavailable", "hcpx vault status")
    assert "open to other users" in denial.error
    assert world.hub().state(ask()) is None


def test_a_credential_of_a_kind_that_nobody_knows_is_forbidden(world: World) -> None:
    world.vault().keep(ADA, stored("tok-ada-1"))
    hub = Hub(world.vault(), {}, world.clock.now)
    for denial in (hub.mint(ask()), hub.state(ask())):
        assert isinstance(denial, Denial)
        assert denial.error == (
            "binding user for ledger: forbidden: no minter here knows credentials of the kind secret"
        )


def test_a_nul_is_not_handed_to_a_program(world: World) -> None:
    world.vault().keep(ADA, stored("tok\0ada-1"))
    denial = world.hub().mint(ask())
    assert isinstance(denial, Denial)
    assert denial.error == "binding user for ledger: forbidden: the value of LEDGER_TOKEN would hold a NUL"


def test_nothing_ambient_is_ever_used(world: World) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.hub.world import World, ask;"
        f"print(World(Path({str(world.home)!r})).hub().mint(ask()).code)"
    )
    env = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "LEDGER_TOKEN": "ambient-1",
        "GITHUB_TOKEN": "ambient-2",
        "AWS_SECRET_ACCESS_KEY": "ambient-3",
        "AWS_ACCESS_KEY_ID": "ambient-4",
    }
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
    assert shown.stdout == "binding_missing\n"
    assert connect(world, "tok-ada-1").startswith("cred_")
    binding = world.hub().mint(ask())
    assert isinstance(binding, Binding)
    assert binding.env == {"LEDGER_TOKEN": "tok-ada-1"}


def test_a_credentials_id_says_nothing_of_its_value(world: World) -> None:
    assert connect(world, "tok-ada-1") != connect(world, "tok-ada-1")


def test_connections_are_listed_without_their_secrets(world: World) -> None:
    first = connect(world, "tok-ada-1", expires_at=NOW + 60)
    second = connect(world, "tok-fleet", family="mothership")
    assert Connections(world.vault()).list("acme") == [
        Connection("acme", "*", "ledger", "mothership", second, "secret", None, NOW),
        Connection("acme", "user:ada", "ledger", "user", first, "secret", NOW + 60, NOW),
    ]
    assert Connections(world.vault()).list("other") == []
    assert Connections(world.vault()).forget("acme", "user:grace", "ledger", "mothership")
    assert not Connections(world.vault()).forget("acme", "user:grace", "ledger", "user")
    assert [one.family for one in Connections(world.vault()).list("acme")] == ["user"]


@pytest.mark.parametrize(
    ("family", "secret", "why"),
    [
        ("public", "tok-ada-1", "nothing to connect"),
        ("mock", "tok-ada-1", "nothing to connect"),
        ("user", "", "the secret is empty"),
        ("user", "a\0b", "the secret holds a NUL"),
        ("user", "\ud800abcdef", "the secret is not UTF-8"),
    ],
)
def test_what_no_program_can_be_given_is_not_stored(world: World, family: str, secret: str, why: str) -> None:
    denial = Connections(world.vault()).keep_secret("acme", "user:ada", "ledger", family, secret)
    assert isinstance(denial, Denial)
    assert denial.code == "usage"
    assert why in denial.error
    assert world.rows.list() == []


def test_a_secret_too_short_to_be_hidden_is_stored_with_a_warning(world: World) -> None:
    kept = Connections(world.vault()).keep_secret("acme", "user:ada", "ledger", "user", "12345")
    assert isinstance(kept, Connection)
    assert kept.warnings == ("a secret of fewer than 6 characters is not hidden in what programs print",)

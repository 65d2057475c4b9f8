"""Every gate of Spec 01 section 3: what it denies, in which words, and that nothing later happened."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hcpx.ports import Call, Credential
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.pack import BOOTSTRAP, Wrap
from hcpx.vocabulary.policy import Overlay, PolicyRow
from hcpx.vocabulary.result import Result
from tests.doubles import NOW, PROJECT, World, wrap_pack

READ = PolicyRow("read")
WRITE = PolicyRow("write", confirm=True)
POLICY = {
    "balance": READ,
    "transfer": WRITE,
    "link": PolicyRow("connect"),
    "note": PolicyRow("read", land="brain"),
    "purge": PolicyRow("write", confirm=True, binding="user"),
}


def world(**session: Any) -> World:
    return World(wrap_pack(POLICY), **session)


def told(result: Result) -> dict[str, Any]:
    """A Result as JSON values without what only says which call it was."""
    return {k: v for k, v in result.to_dict().items() if k not in ("audit_id", "duration_ms")}


def denial(code: str, step: int, error: str, verb: str | None = "balance", **more: Any) -> dict[str, Any]:
    pack = None if verb is None else "ledger"
    return {"ok": False, "pack_id": pack, "verb_key": verb, "error": error, "code": code, "step": step} | more


def untouched(here: World) -> bool:
    return not here.ran and not here.hub.minted and all(r.kind != "intent" for r in here.journal.records)


def test_a_permitted_read_runs_and_is_recorded() -> None:
    here = world()
    result = here.call("balance", {"amount": 1}, request_id="r-1")
    assert told(result) == {
        "ok": True,
        "pack_id": "ledger",
        "verb_key": "balance",
        "result": {"argv": ["balance", "1", "--json"]},
        "stdout": "out",
        "stderr": "",
        "exit_code": 0,
        "request_id": "r-1",
    }
    assert [(r.kind, r.decision, r.outcome, r.step, r.args) for r in here.journal.records] == [
        ("entry", "allowed", "ok", 7, {"amount": 1})
    ]
    assert result.audit_id == here.last.audit_id


@pytest.mark.parametrize(
    "payload", [b'{"pack_id":"ledger","verb_key":"balance"}', b"\xff", b"[]"], ids=["good", "bytes", "list"]
)
def test_no_session_learns_nothing_whatever_the_payload(payload: bytes) -> None:
    here = world()
    result = here.execute(Call(payload, Credential("another")))
    assert told(result) == denial("unauthenticated", 2, "unauthenticated", None, hint="hcpx session new")
    assert untouched(here)
    assert here.last.attribution.tenant == "@system"


def test_a_payload_that_is_no_envelope_is_refused_at_step_1() -> None:
    here = world()
    result = here.execute(Call(b'{"pack_id":"ledger","verb_key":"balance","tenant":"x"}', World.TOKEN))
    assert told(result) == denial("invalid_envelope", 1, "invalid envelope: unknown field tenant")
    assert untouched(here)
    assert (here.last.attribution.pack_id, here.last.decision, here.last.code) == (
        "ledger",
        "denied",
        "invalid_envelope",
    )


@pytest.mark.parametrize(
    ("pack_id", "verb", "code", "error", "hint"),
    [
        ("nope", "balance", "unknown_pack", "unknown pack nope", "hcpx pack list"),
        ("Ledger", "balance", "unknown_pack", "unknown pack Ledger", "hcpx pack list"),
        ("ledger\u200b", "balance", "unknown_pack", "unknown pack ledger\\u{200B}", "hcpx pack list"),
        ("", "balance", "unknown_pack", "unknown pack ", "hcpx pack list"),
        ("ledger", "transfers", "no_policy", "no policy for transfers", "hcpx pack show ledger"),
        ("ledger", "trans", "no_policy", "no policy for trans", "hcpx pack show ledger"),
    ],
    ids=["unknown", "case", "invisible", "empty", "longer", "prefix"],
)
def test_what_cannot_be_resolved_is_denied_at_step_1(pack_id: str, verb: str, code: str, error: str, hint: str) -> None:
    here = world()
    result = here.call(verb, pack_id=pack_id)
    assert told(result) == denial(code, 1, error, verb, hint=hint) | {"pack_id": pack_id}
    assert untouched(here)


def test_a_pack_that_this_session_has_not_activated_is_denied() -> None:
    here = world(activations={}, owner=True)
    assert told(here.call("balance")) == denial(
        "pack_not_activated", 1, "pack ledger not activated", hint="hcpx activate ledger"
    )
    assert untouched(here)


def test_a_pack_that_changed_since_activation_is_denied() -> None:
    here = world(activations={"ledger": "sha256:older"}, owner=True)
    assert told(here.call("balance")) == denial(
        "pack_changed", 1, "pack ledger changed since activation", hint="hcpx activate ledger"
    )
    assert untouched(here)


def test_a_command_without_a_row_has_no_policy() -> None:
    pack = wrap_pack(POLICY)
    here = World(msgspec.structs.replace(pack, policy={"balance": READ}))
    assert here.call("transfer").error == "no policy for transfer"
    assert untouched(here)


def test_the_bootstrap_pack_is_active_on_every_session_and_needs_no_grant() -> None:
    here = World(wrap_pack({"hcp.list": PolicyRow("read", everyone=True)}, BOOTSTRAP), activations={}, scope=())
    here.grants.clear()
    assert here.call("hcp.list").ok


def test_land_brain_asks_for_a_project_before_anything_of_step_3() -> None:
    here = world()
    here.grants.clear()
    assert told(here.call("note")) == denial(
        "project_required",
        2,
        "privacy.land brain requires project_id",
        "note",
        hint="hcpx session new --principal user:ada --project ID --pack ledger --verb note",
    )
    assert untouched(here)


@pytest.mark.parametrize("activations", [{}, {"ledger": "sha256:older"}], ids=["not_activated", "changed"])
@pytest.mark.parametrize(
    ("session", "hint"),
    [
        ({"owner": True}, "hcpx activate ledger"),
        ({"id": "s_9"}, "hcpx activate ledger"),
        ({"id": "s_9", "actor": "agent:claude"}, "ask the store's owner to run: hcpx activate ledger"),
    ],
    ids=["owner", "session", "actor"],
)
def test_what_is_to_be_activated_is_named_as_the_catalogue_says(
    activations: dict[str, str], session: dict[str, Any], hint: str
) -> None:
    assert world(activations=activations, **session).call("balance").hint == hint


def test_the_owners_own_session_gets_its_project_by_the_folder_it_calls_in() -> None:
    here = world(owner=True)
    assert here.call("note").hint == (
        "call from inside a project (hcpx project list), or make one: hcpx project add ID DIR"
    )


def test_a_right_that_only_the_session_lacks_asks_for_another_session_and_not_for_a_grant() -> None:
    scope = (Grant("verb.exec.read", "ledger", ("*",)),)
    here = world(scope=scope, actor="agent:claude", project=PROJECT)
    denied = here.call("transfer", {"confirm": True})
    assert (denied.code, denied.error) == ("denied", "denied: missing verb.exec.write for ledger.transfer")
    assert denied.hint == (
        "ask the store's owner to run: hcpx session new --principal user:ada --actor agent:claude "
        f"--project {PROJECT.id} --pack ledger --verb transfer"
    )
    here.grants.clear()
    missing = "hcpx grant user:ada verb.exec.write --pack ledger --verb transfer"
    assert here.call("transfer", {"confirm": True}).hint == f"ask the store's owner to run: {missing}"


def test_workspace_project_asks_for_a_project() -> None:
    here = World(wrap_pack(POLICY, wrap=Wrap(bin="bin/x", workspace="project")))
    assert here.call("balance").error == "workspace project requires project_id"
    assert here.call("note").error == "privacy.land brain requires project_id"
    assert untouched(here)


def test_workspace_project_opens_the_projects_directory_and_closes_it() -> None:
    here = World(wrap_pack(POLICY, wrap=Wrap(bin="bin/x", workspace="project")), project=PROJECT)
    assert here.call("balance").ok
    assert [d.path for d in here.directories.opened] == [PROJECT.directory]
    assert here.adapter.invocations[0].directory is here.directories.opened[0]
    assert here.directories.opened[0].closed == 1


def test_a_directory_is_closed_when_a_later_step_denies() -> None:
    here = World(wrap_pack(POLICY, wrap=Wrap(bin="bin/x", workspace="project")), project=PROJECT)
    assert here.call("transfer").code == "confirm_required"
    assert [d.closed for d in here.directories.opened] == [1]


def _missing(capability: str, verb: str) -> dict[str, Any]:
    return denial(
        "denied",
        3,
        f"denied: missing {capability} for ledger.{verb}",
        verb,
        hint=f"hcpx grant user:ada {capability} --pack ledger --verb {verb}",
    )


@pytest.mark.parametrize(
    ("verb", "needed"),
    [("balance", "verb.exec.read"), ("transfer", "verb.exec.write"), ("link", "pack.connect")],
    ids=["read", "write", "connect"],
)
def test_each_operation_needs_its_own_capability_and_no_other_implies_it(verb: str, needed: str) -> None:
    here = world()
    every = ("verb.exec.read", "verb.exec.write", "pack.connect", "verb.approve", "audit.read")
    here.grants["user:ada"] = [Grant(c, "*", ("*",)) for c in every if c != needed]
    assert told(here.call(verb, {"confirm": True})) == _missing(needed, verb)
    assert untouched(here)
    here.grants["user:ada"] = [Grant(needed, "*", ("*",))]
    assert here.call(verb, {"confirm": True}).ok


@pytest.mark.parametrize(
    "grant",
    [
        Grant("verb.exec.read", "ledge", ("*",)),
        Grant("verb.exec.read", "ledger-admin", ("*",)),
        Grant("verb.exec.read", "ledger", ("balanc",)),
        Grant("verb.exec.read", "ledger", ("balance2",)),
        Grant("verb.exec.read", "ledger", ("bal*",)),
        Grant("verb.exec.read", "ledger", ()),
        Grant("verb.exec.read", "*", ("transfer",)),
        Grant("verb.exec.read", "ledger", ("*",), until=NOW),
        Grant("verb.exec.read", "ledger", ("*",), args_schema='{"properties":{"amount":{"maximum":100}}}'),
        Grant("verb.exec.read", "ledger", ("*",), args_schema='{"type":'),
    ],
    ids=[
        "prefix",
        "longer",
        "verb-prefix",
        "verb-longer",
        "pattern",
        "empty",
        "other",
        "ended",
        "schema",
        "broken",
    ],
)
def test_a_grant_that_does_not_cover_the_call_is_no_grant(grant: Grant) -> None:
    here = world()
    here.grants["user:ada"] = [grant]
    assert here.call("balance", {"amount": 101}).error == "denied: missing verb.exec.read for ledger.balance"
    assert untouched(here)


def test_a_grant_covers_args_within_its_schema_until_its_end() -> None:
    here = world()
    schema = '{"properties":{"amount":{"maximum":100}}}'
    here.grants["user:ada"] = [Grant("verb.exec.read", "ledger", ("balance",), args_schema=schema, until=NOW + 1)]
    assert here.call("balance", {"amount": 100}).ok


@pytest.mark.parametrize(
    ("scope", "ok"),
    [
        (None, True),
        ((), False),
        ((Grant("verb.exec.read", "ledger", ("*",)),), True),
        ((Grant("verb.exec.read", "ledger", ("note",)),), False),
        ((Grant("verb.exec.write", "*", ("*",)),), False),
    ],
    ids=["none", "empty", "covers", "other-verb", "other-capability"],
)
def test_a_scope_narrows_and_an_empty_one_allows_nothing(scope: tuple[Grant, ...] | None, ok: bool) -> None:
    assert world(scope=scope).call("balance").ok is ok


def test_a_scope_never_widens() -> None:
    here = world(scope=(Grant("verb.exec.write", "*", ("*",)),))
    here.grants["user:ada"] = [Grant("verb.exec.read", "*", ("*",))]
    assert here.call("transfer", {"confirm": True}).code == "denied"


def test_a_row_that_the_operator_forbids_is_denied_after_the_grant_was_asked() -> None:
    here = world()
    here.overlays["ledger", "balance"] = Overlay(deny=True)
    assert told(here.call("balance")) == denial(
        "forbidden", 3, "denied: policy forbids ledger.balance", hint="hcpx policy show ledger"
    )
    here.grants.clear()
    assert here.call("balance").code == "denied"
    assert untouched(here)


@pytest.mark.parametrize("value", [None, False, "true", "yes", 1, 1.0, [True], {"a": True}], ids=repr)
def test_only_the_json_value_true_satisfies_the_confirm_gate(value: object) -> None:
    here = world()
    result = here.call("transfer", {"amount": 1, "confirm": value, "apply": value})
    assert (result.code, result.step, result.error) == ("confirm_required", 4, "confirm required")
    assert untouched(here)


@pytest.mark.parametrize("args", [{"confirm": True}, {"apply": True}, {"confirm": False, "apply": True}], ids=repr)
def test_confirm_or_apply_satisfies_the_gate(args: dict[str, object]) -> None:
    here = world()
    assert here.call("transfer", args).ok
    assert [r.kind for r in here.journal.records] == ["intent", "outcome"]


def test_an_operator_can_add_a_confirm_gate() -> None:
    here = world()
    here.overlays["ledger", "balance"] = Overlay(confirm=True)
    assert here.call("balance").code == "confirm_required"
    assert here.call("balance", {"confirm": True}).ok


def test_an_unconfirmed_call_with_args_that_would_not_pass_says_so() -> None:
    result = world().call("transfer", {"amount": "--all"})
    assert told(result) == denial(
        "confirm_required",
        4,
        "confirm required",
        "transfer",
        hint='once it is agreed, send "confirm": true in args',
        warnings=['these args would not pass: invalid args: /amount: begins with "-"'],
    )


def test_args_that_cannot_be_rendered_are_denied_before_the_mint() -> None:
    here = world()
    result = here.call("purge", {"amount": "--all", "confirm": True})
    assert (result.code, result.step, result.error) == (
        "invalid_args",
        4,
        'invalid args: /amount: begins with "-"',
    )
    assert untouched(here)


def test_an_operators_schema_on_the_args_is_held() -> None:
    here = world()
    here.overlays["ledger", "transfer"] = Overlay(args_schema='{"properties":{"amount":{"maximum":100}}}')
    assert here.call("transfer", {"amount": 100, "confirm": True}).ok
    result = here.call("transfer", {"amount": 101, "confirm": True})
    assert (result.code, result.step) == ("invalid_args", 4)
    assert str(result.error).startswith("invalid args: /amount: ")


def test_a_mint_failure_ends_the_call_after_the_intent_and_nothing_runs() -> None:
    here = world()
    result = here.call("purge", {"confirm": True})
    assert told(result) == denial(
        "binding_missing", 5, "binding user for ledger: not connected", "purge", hint="hcpx connect ledger"
    )
    assert not here.ran
    assert [(r.kind, r.decision, r.code) for r in here.journal.records] == [
        ("intent", None, None),
        ("outcome", "denied", "binding_missing"),
    ]


def test_the_mint_is_asked_for_this_principal_pack_and_the_rows_family() -> None:
    here = world(actor="agent:claude")
    here.hub.bindings["user:ada", "ledger", "user"] = "tok-ada"
    assert here.call("purge", {"confirm": True}).ok
    asked = here.hub.minted[0]
    assert (asked.tenant, asked.principal, asked.actor, asked.pack_id, asked.family) == (
        "acme", "user:ada", "agent:claude", "ledger", "user",
    )  # fmt: skip
    assert here.last.attribution.credential_id == "c_1"
    assert here.last.attribution.invoker == "agent"


def test_a_public_row_asks_the_hub_for_nothing() -> None:
    here = world()
    assert here.call("balance").ok
    assert here.hub.minted == []


def test_a_hint_for_an_agent_addresses_the_owner() -> None:
    result = world(actor="agent:claude").call("purge", {"confirm": True})
    assert result.hint == "ask the store's owner to run: hcpx connect ledger"

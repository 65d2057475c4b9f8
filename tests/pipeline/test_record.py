"""Step 7 and the outermost guard: every end is recorded, and no exception reaches a caller."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hcpx.ports import AuditUnavailable, StoreUnavailable
from hcpx.vocabulary.denial import ApprovalTicket, Cause
from hcpx.vocabulary.invocation import Contact, Enforced, Ran
from hcpx.vocabulary.pack import Wrap
from hcpx.vocabulary.policy import PolicyRow
from tests.doubles import PROJECT, World, wrap_pack

POLICY = {
    "see": PolicyRow("read"),
    "pay": PolicyRow("write", confirm=True, binding="user"),
    "note": PolicyRow("read", land="brain"),
}


def world(**session: Any) -> World:
    here = World(wrap_pack(POLICY), **session)
    here.hub.bindings["user:ada", "ledger", "user"] = "tok-1234567"
    return here


def test_every_field_of_a_run_is_in_the_result() -> None:
    here = world()
    enforced = Enforced("bubblewrap", "none", ("/work",), {"timeout_s": 60})
    cause = Cause("confirm_required", 4, "x", "y", ApprovalTicket("p", "d", "t"))
    here.adapter.answer = Ran(
        value=None, code="exit", error="boom", exit_code=3, stdout="a\ufffd", stderr="b",
        stdout_bytes=b"a\xff", stderr_bytes=b"b", truncated=("stdout",), enforced=enforced, cause=cause,
        hint="hcpx doctor",
        warnings=("w",), approval=ApprovalTicket("p", "d", "t"), output_sizes={"stdout": 2},
    )  # fmt: skip
    result = here.call("see").to_dict()
    assert result == {
        "ok": False,
        "pack_id": "ledger",
        "verb_key": "see",
        "result": None,
        "error": "boom",
        "stdout": "a\ufffd",
        "stderr": "b",
        "stdout_base64": "Yf8=",
        "stderr_base64": "Yg==",
        "exit_code": 3,
        "code": "exit",
        "step": 6,
        "cause": msgspec.to_builtins(cause),
        "hint": "hcpx doctor",
        "approval": {"id": "p", "digest": "d", "expires_at": "t"},
        "truncated": ["stdout"],
        "enforced": {
            "sandbox": "bubblewrap",
            "network": "none",
            "writable": ["/work"],
            "limits": {"timeout_s": 60},
        },
        "warnings": ["w"],
        "audit_id": "a_1",
        "duration_ms": 0.0,
    }


@pytest.mark.parametrize(
    ("code", "outcome"),
    [("exit", "failed"), ("timeout", "timeout"), ("cancelled", "cancelled"), ("upstream", "failed")],
    ids=lambda v: v,
)
def test_how_a_run_failed_is_in_the_record(code: str, outcome: str) -> None:
    here = world()
    here.adapter.answer = Ran(code=code, error=code, exit_code=1)
    here.call("see")
    assert (here.last.decision, here.last.outcome, here.last.code, here.last.step) == (
        "allowed",
        outcome,
        code,
        6,
    )


def test_a_write_leaves_an_intent_without_args_before_its_outcome_with_them() -> None:
    here = world()
    here.call("pay", {"amount": 5, "confirm": True})
    intent, outcome = here.journal.records
    assert (intent.kind, intent.args, intent.audit_id) == ("intent", None, outcome.audit_id)
    assert intent.args_digest is not None
    assert (outcome.kind, outcome.args) == ("outcome", {"amount": 5, "confirm": True})


def test_an_arg_that_holds_a_secret_of_the_binding_becomes_a_keyed_digest() -> None:
    here = world()
    here.call("pay", {"amount": "tok-1234567", "confirm": True})
    assert "tok-1234567" not in repr(here.journal.records)
    args: Any = here.last.args
    assert args["amount"].startswith("seal:")


def test_an_arg_marked_secret_becomes_a_keyed_digest() -> None:
    made = wrap_pack(POLICY)
    schema = '{"type":"object","properties":{"amount":{"x-secret":true}},"additionalProperties":false}'
    command = msgspec.structs.replace(made.commands["see"], args_schema=schema)
    here = World(msgspec.structs.replace(made, commands=made.commands | {"see": command}))
    here.call("see", {"amount": "pin-4711"})
    assert "pin-4711" not in repr(here.journal.records)


def test_an_intent_that_cannot_be_written_denies_and_nothing_is_minted() -> None:
    here = world()
    here.journal.fail_intent = True
    result = here.call("pay", {"amount": 5, "confirm": True})
    assert (result.code, result.step, result.error) == ("audit_unavailable", 5, "audit unavailable")
    assert here.hub.minted == []
    assert not here.ran


def test_an_outcome_that_cannot_be_written_leaves_the_result_and_warns() -> None:
    here = world()
    here.journal.fail_settle = True
    result = here.call("see")
    assert (result.ok, result.warnings) == (True, ("the audit record of this call could not be written",))


def test_a_store_that_cannot_be_read_is_a_denial_that_names_it() -> None:
    here = world()
    here.store_down = True
    result = here.call("see")
    assert (result.code, result.step) == ("store_unavailable", 1)
    assert result.error == "store unavailable: /home/hcpx/store.db is locked: try again"


@pytest.mark.parametrize("error", [RuntimeError("boom tok-1234567"), KeyError("x"), ValueError()], ids=repr)
def test_a_bug_in_an_adapter_becomes_an_internal_error_with_an_id(error: Exception) -> None:
    here = world()
    here.adapter.answer = error
    result = here.call("pay", {"amount": 5, "confirm": True})
    assert (result.code, result.step, result.error) == ("internal", 6, "internal error e_2")
    assert here.log.troubles == {"e_2": error}
    assert "tok-1234567" not in repr(result)
    assert (here.last.kind, here.last.outcome, here.last.code) == ("outcome", "unknown", "internal")


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_an_end_of_the_embedding_program_passes_through_and_is_recorded(end: BaseException) -> None:
    here = world()
    here.adapter.answer = end
    with pytest.raises(type(end)):
        here.call("pay", {"amount": 5, "confirm": True})
    assert (here.last.kind, here.last.outcome, here.last.code) == ("outcome", "unknown", "internal")


@pytest.mark.parametrize(
    ("port", "step"),
    [("sessions", 2), ("packs", 1), ("directories", 2), ("grants", 3), ("approvals", 4), ("journal", 5), ("hub", 5)],
    ids=str,
)
def test_a_bug_in_a_port_is_an_internal_error_and_nothing_runs(port: str, step: int) -> None:
    pack = wrap_pack(
        {"pay": PolicyRow("write", confirm=True, approvals=int(port == "approvals"), binding="user")},
        wrap=Wrap("bin/x", workspace="project"),
    )
    here = World(pack, project=PROJECT)
    here.hub.bindings["user:ada", "ledger", "user"] = "tok-1234567"

    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    here.ports = msgspec.structs.replace(here.ports, **{port: Broken()})
    result = here.call("pay", {"amount": 5, "confirm": True})
    assert all(directory.closed == 1 for directory in here.directories.opened)
    assert (result.ok, result.code, result.step) == (False, "internal", step)
    assert not here.ran


@pytest.mark.parametrize("error", [StoreUnavailable("gone"), AuditUnavailable("gone")], ids=repr)
def test_a_store_that_fails_in_the_middle_is_a_denial(error: Exception) -> None:
    here = world()
    here.adapter.answer = error
    assert here.call("see").code in ("store_unavailable", "audit_unavailable")


def test_the_hosts_that_a_program_reached_for_are_in_the_record() -> None:
    here = world()
    contacts = (Contact("api.example", 443, None, 2), Contact("10.0.0.1", 80, "not on the list", 1))
    here.adapter.answer = Ran(value=1, exit_code=0, contacts=contacts)
    here.call("see")
    assert here.last.contacts == contacts


def test_a_successful_result_lands_in_the_brain() -> None:
    here = world(project=PROJECT)
    assert here.call("note").ok
    assert here.brain.kept == [("ledger", "note")]


def test_a_failed_result_does_not_land_in_the_brain() -> None:
    here = world(project=PROJECT)
    here.adapter.answer = Ran(code="exit", error="exit 1", exit_code=1)
    here.call("note")
    assert here.brain.kept == []


def test_a_brain_that_is_full_is_a_warning() -> None:
    here = world(project=PROJECT)
    here.brain.full = "over the quota"
    assert here.call("note").warnings == ("the result is not kept under the project: over the quota",)


def test_a_brain_that_cannot_be_reached_is_a_warning_and_the_result_stands() -> None:
    here = world(project=PROJECT)

    class Gone:
        def keep(self, *_: object) -> str | None:
            raise StoreUnavailable("gone")

    here.ports = msgspec.structs.replace(here.ports, brain=Gone())
    result = here.call("note")
    assert (result.ok, result.warnings) == (True, ("the result is not kept under the project: gone",))


@pytest.mark.parametrize("error", [StoreUnavailable("the key is gone"), RuntimeError("boom")], ids=repr)
def test_a_record_that_cannot_even_be_made_never_costs_the_caller_the_answer(error: Exception) -> None:
    here = world()

    class Broken:
        def digest(self, content: bytes) -> str:
            raise error

    here.ports = msgspec.structs.replace(here.ports, seal=Broken())
    result = here.call("see")
    assert (result.ok, result.warnings) == (True, ("the audit record of this call could not be written",))
    assert here.call("nope").code == "no_policy"


def test_a_hint_of_a_failed_run_addresses_the_owner_for_an_agent() -> None:
    here = world(actor="agent:claude")
    here.adapter.answer = Ran(code="exit", error="exit 1", exit_code=1, hint="hcpx doctor")
    assert here.call("see").hint == "ask the store's owner to run: hcpx doctor"


def test_what_a_payload_that_is_no_envelope_named_is_echoed_and_audited() -> None:
    here = world()
    result = here.call("see", request_id="r-1", surprise=1)
    named = ("ledger", "see", "r-1")
    assert (result.pack_id, result.verb_key, result.request_id) == named
    record = here.last.attribution
    assert (record.pack_id, record.verb_key, record.request_id) == named

"""Idempotency keys: a write happens once (Spec 06 section 3)."""

from __future__ import annotations

from typing import Any

from hcpx.vocabulary.denial import deny
from hcpx.vocabulary.invocation import Ran
from hcpx.vocabulary.policy import PolicyRow
from hcpx.vocabulary.result import Result
from tests.doubles import World, wrap_pack


def world() -> World:
    return World(wrap_pack({"pay": PolicyRow("write", confirm=True), "see": PolicyRow("read")}))


def pay(here: World, key: str = "k-1", verb: str = "pay", **args: Any) -> Result:
    return here.call(verb, {"amount": 5, "confirm": True} | args, idempotency_key=key, request_id="r-9")


def test_a_second_call_with_the_same_key_gives_the_recorded_result_and_runs_nothing() -> None:
    here = world()
    first, again = pay(here), pay(here, apply=True)
    assert len(here.adapter.invocations) == 1
    assert again.to_dict() == first.to_dict() | {
        "audit_id": again.audit_id,
        "warnings": [f"replayed: this is the recorded result of {first.audit_id}"],
    }
    assert again.audit_id != first.audit_id
    assert (here.last.decision, here.last.outcome, here.last.code, here.last.step) == (
        "replayed",
        "ok",
        None,
        7,
    )


def test_a_recorded_failure_is_replayed_as_the_failure_it_was() -> None:
    here = world()
    here.adapter.answer = Ran(code="exit", error="exit 3", exit_code=3)
    pay(here)
    here.adapter.answer = None
    again = pay(here)
    assert (again.ok, again.code, again.exit_code) == (False, "exit", 3)
    assert (here.last.decision, here.last.outcome, here.last.code) == ("replayed", "failed", "exit")


def test_the_same_key_for_another_call_is_a_conflict() -> None:
    here = world()
    pay(here)
    result = pay(here, amount=6)
    assert (result.code, result.step, result.error) == (
        "idempotency_conflict",
        4,
        "denied: idempotency_key reused",
    )
    assert len(here.adapter.invocations) == 1


def test_a_denial_before_anything_was_started_leaves_the_key_free() -> None:
    here = world()
    here.adapter.answer = deny("not_allowlisted", bin="x")
    assert pay(here).code == "not_allowlisted"
    here.adapter.answer = None
    assert pay(here).ok


def test_while_the_first_call_runs_a_second_is_busy() -> None:
    here = world()
    inner: list[Result] = []

    class Reentrant:
        def __getattr__(self, name: str) -> Any:
            return getattr(here.adapter, name)

        def run(self, invocation: Any) -> Any:
            inner.append(pay(here))
            return here.adapter.run(invocation)

    here.adapters["wrap"] = Reentrant()
    assert pay(here).ok
    assert (inner[0].code, inner[0].step) == ("busy", 4)


def test_a_key_on_a_read_is_ignored_with_a_warning() -> None:
    here = world()
    result = pay(here, verb="see")
    assert result.warnings == ("idempotency_key ignored: the command only reads",)
    assert here.journal.keys == {}


def test_an_unconfirmed_repeat_is_denied_before_the_key_is_looked_up() -> None:
    here = world()
    pay(here)
    assert pay(here, confirm=False).code == "confirm_required"

"""Composites: steps through the pipeline with the caller's rights only (Spec 08 points 15 to 19)."""

from __future__ import annotations

import threading
from typing import Any

import msgspec

from hcpx.adapters.composite import MAX_DEPTH, Composite
from hcpx.vocabulary.approval import Decision
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.denial import Cause, deny
from hcpx.vocabulary.invocation import Invocation, Ran
from hcpx.vocabulary.pack import Command, Pack, StepSpec
from hcpx.vocabulary.policy import PolicyRow
from hcpx.vocabulary.result import Result
from tests.doubles import NOW, Redaction, World, wrap_pack

BANK = wrap_pack(
    {
        "who": PolicyRow("read"),
        "pay": PolicyRow("write", confirm=True),
        "wire": PolicyRow("write", confirm=True, approvals=1),
    },
    "bank",
)


def daily(*steps: StepSpec, output: object = None, row: PolicyRow | None = None, pack_id: str = "daily") -> Pack:
    text = None if output is None else msgspec.json.encode(output).decode()
    command = Command(verb_key="close", steps=steps, output=text)
    return Pack(
        id=pack_id,
        version="1.0.0",
        title="A workflow",
        kind="composite",
        digest=f"sha256:{pack_id}",
        root="/packs/daily",
        commands={"close": command},
        policy={"close": row if row is not None else PolicyRow("write", confirm=True)},
    )


def step(name: str, verb: str = "pay", pack_id: str = "bank", **args: Any) -> StepSpec:
    return StepSpec(name=name, pack_id=pack_id, verb_key=verb, args=args)


def world(*packs: Pack, handlers: Any = None) -> World:
    here = World(*packs, BANK)
    here.adapters["composite"] = Composite(here, Redaction(), handlers if handlers is not None else {})
    return here


def close(here: World, pack_id: str = "daily", **args: Any) -> Result:
    return here.call("close", {"confirm": True} | args, pack_id=pack_id)


def ran(here: World) -> list[tuple[str, tuple[str, ...]]]:
    return [(call.command.verb_key, call.argv) for call in here.adapter.invocations]


def test_steps_run_in_order_and_output_is_filled() -> None:
    pack = daily(
        step("check", "who"),
        step("pay", amount={"$arg": "amount"}),
        output={"paid": {"$step": "pay", "path": "/argv"}, "first": {"$step": "check", "path": "/argv/0"}},
    )
    here = world(pack)
    result = close(here, amount=9)
    assert (result.ok, result.result) == (True, {"paid": ["pay", "9", "--json"], "first": "who"})
    assert ran(here) == [("who", ("who", "--json")), ("pay", ("pay", "9", "--json"))]
    assert {"stdout", "stderr"}.isdisjoint(result.to_dict())


def test_without_output_the_result_maps_step_names_to_results() -> None:
    here = world(daily(step("a", "who"), step("b", "who")))
    assert close(here).result == {"a": {"argv": ["who", "--json"]}, "b": {"argv": ["who", "--json"]}}


def test_each_step_is_recorded_below_the_composite() -> None:
    here = world(daily(step("pay", amount=1)))
    result = close(here)
    inner = [record for record in here.journal.records if record.attribution.pack_id == "bank"]
    assert {record.parent for record in inner} == {result.audit_id}
    assert [record.kind for record in inner] == ["intent", "outcome"]


def test_a_value_from_a_step_reaches_a_later_step_as_it_is() -> None:
    here = world(daily(step("check", "who"), step("pay", amount={"$step": "check", "path": "/argv/0"})))
    assert close(here).ok
    assert ran(here)[1] == ("pay", ("pay", "who", "--json"))


def test_values_are_never_looked_into_for_references() -> None:
    here = world(daily(step("pay", amount={"$arg": "amount"}), output={"$arg": "amount"}))
    assert close(here, amount={"$arg": "confirm"}).code == "step_failed"
    assert close(here, amount="{{amount}}").result == "{{amount}}"


def test_an_arg_that_was_not_given_is_left_out() -> None:
    here = world(daily(step("pay", amount={"$arg": "amount"}), output={"a": {"$arg": "amount"}, "b": [{"$arg": "x"}]}))
    result = close(here)
    assert result.result == {"b": [None]}
    assert ran(here) == [("pay", ("pay", "--json"))]


def test_a_path_that_does_not_exist_fails_the_step() -> None:
    here = world(daily(step("check", "who"), step("pay", amount={"$step": "check", "path": "/nope"})))
    result = close(here)
    assert (result.code, result.step, result.error) == (
        "step_failed",
        6,
        "step pay: no /nope in the result of check",
    )
    assert ran(here) == [("who", ("who", "--json"))]


def test_a_step_that_would_be_denied_stops_the_composite_before_anything_runs() -> None:
    here = world(daily(step("check", "who"), step("pay", amount="--all")))
    result = close(here)
    assert result.to_dict() | {"audit_id": "", "duration_ms": 0} == {
        "ok": False,
        "pack_id": "daily",
        "verb_key": "close",
        "error": 'step pay: invalid args: /amount: begins with "-"',
        "code": "step_failed",
        "step": 6,
        "cause": {"code": "invalid_args", "step": 4, "pack_id": "bank", "verb_key": "pay"},
        "audit_id": "",
        "duration_ms": 0,
    }
    assert ran(here) == []
    assert (here.last.decision, here.last.kind) == ("denied", "outcome")


def test_a_composite_lends_nobody_its_rights() -> None:
    here = world(daily(step("pay", amount=9)))
    here.grants["user:ada"] = [Grant("verb.exec.write", "daily", ("*",))]
    result = close(here)
    assert result.error == "step pay: denied: missing verb.exec.write for bank.pay"
    assert ran(here) == []


def test_consent_is_handed_down_only_by_a_row_that_asks_for_it() -> None:
    here = world(daily(step("pay"), row=PolicyRow("write")))
    result = close(here)
    assert result.error == "step pay: confirm required"
    assert ran(here) == []


def test_a_step_that_fails_ends_the_composite_with_its_cause() -> None:
    here = world(daily(step("one"), step("two")))
    here.adapter.answer = Ran(code="exit", error="no funds", exit_code=3)
    result = close(here)
    assert (result.error, result.to_dict()["cause"]) == (
        "step one: no funds",
        {"code": "exit", "step": 6, "pack_id": "bank", "verb_key": "pay"},
    )
    assert len(ran(here)) == 1
    assert here.last.decision == "allowed"


def test_a_step_that_could_not_start_is_a_denial_of_the_whole() -> None:
    here = world(daily(step("one")))
    here.adapter.answer = deny("not_allowlisted", bin="x")
    result = close(here)
    assert (result.code, result.error) == ("step_failed", 'step one: sandbox: bin "x" not allowlisted')
    assert here.last.decision == "denied"


def test_a_step_that_wants_an_approval_names_it_and_runs_once_it_is_given() -> None:
    here = world(daily(step("wire", "wire", amount=5)))
    here.grants["user:grace"] = [Grant("verb.approve", "*", ("*",))]
    result = close(here)
    cause: Any = result.to_dict()["cause"]
    assert (cause["code"], cause["approval"]["id"]) == ("approval_required", "p_1")
    here.approvals.decide("p_1", Decision("user:grace", "approve", NOW))
    assert close(here).ok


def test_a_mock_run_is_a_mock_run_of_every_step() -> None:
    mocked = msgspec.structs.replace(BANK.commands["pay"], mock='{"id":"mock-1"}')
    bank = msgspec.structs.replace(BANK, commands=BANK.commands | {"pay": mocked})
    here = World(daily(step("pay"), output={"id": {"$step": "pay", "path": "/id"}}), bank)
    here.adapters["composite"] = Composite(here, Redaction(), {})
    assert close(here, mode="mock").result == {"id": "mock-1"}
    assert ran(here) == []


def test_a_mock_step_that_nothing_can_hold_is_a_failed_step() -> None:
    here = world(daily(step("pay")))
    here.adapter.mocks = False
    assert close(here, mode="mock").error == "step pay: no mock for bank.pay"


def test_composites_nest_sixteen_deep_and_no_deeper() -> None:
    def chain(length: int) -> World:
        packs = [daily(step("next", "close", f"c{n + 1}"), pack_id=f"c{n}") for n in range(1, length)]
        return world(*packs, daily(step("end", "who"), pack_id=f"c{length}"))

    assert close(chain(MAX_DEPTH), "c1").ok
    result = close(chain(MAX_DEPTH + 1), "c1")
    assert result.code == "step_failed"
    assert str(result.error).endswith(f"composites nest deeper than {MAX_DEPTH}")


def test_a_cancelled_composite_starts_no_further_step() -> None:
    here = world(daily(step("one"), step("two")))

    class Cancelling:
        def __getattr__(self, name: str) -> Any:
            return getattr(here.adapter, name)

        def run(self, invocation: Invocation) -> Any:
            invocation.cancel.cancel()
            return here.adapter.run(invocation)

    here.adapters["wrap"] = Cancelling()
    assert (close(here).code, len(ran(here))) == ("cancelled", 1)


def test_a_session_that_ends_in_between_runs_no_further_step() -> None:
    here = world(daily(step("one", "who"), step("two", amount=1)))

    class Revoking:
        def __getattr__(self, name: str) -> Any:
            return getattr(here.adapter, name)

        def run(self, invocation: Invocation) -> Any:
            here.session = None
            return here.adapter.run(invocation)

    here.adapters["wrap"] = Revoking()
    result = close(here)
    assert (result.code, result.error, len(ran(here))) == ("step_failed", "step two: unauthenticated", 1)
    assert result.cause == Cause("unauthenticated", 2, "bank", "pay")


def test_a_composite_that_runs_out_of_time_is_a_timeout() -> None:
    limits = msgspec.structs.replace(PolicyRow("write").limits, timeout_s=0.05)
    here = world(daily(step("one"), step("two"), row=PolicyRow("write", confirm=True, limits=limits)))

    class Waiting:
        def __getattr__(self, name: str) -> Any:
            return getattr(here.adapter, name)

        def run(self, invocation: Invocation) -> Any:
            from threading import Event

            woken = Event()
            invocation.cancel.on_cancel(woken.set)
            assert woken.wait(10)
            return Ran(code="cancelled", error="cancelled", exit_code=130)

    here.adapters["wrap"] = Waiting()
    assert (close(here).code, close(here).error) == ("timeout", "timeout after 0.05 s")


def test_out_of_time_between_steps_that_never_wait_no_further_step_starts() -> None:
    limits = msgspec.structs.replace(PolicyRow("write").limits, timeout_s=1e-9)
    here = world(daily(step("one"), step("two"), row=PolicyRow("write", confirm=True, limits=limits)))
    assert (close(here).code, len(ran(here))) == ("timeout", 0)
    assert (here.last.decision, here.last.outcome, here.last.code) == ("denied", None, "timeout")


def test_steps_that_never_wait_start_no_thread() -> None:
    here = world(daily(step("one"), step("two")))
    before = threading.active_count()
    seen: list[int] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(here.adapter, name)

        def run(self, invocation: Invocation) -> Any:
            seen.append(threading.active_count() - before)
            return here.adapter.run(invocation)

    here.adapters["wrap"] = Counting()
    assert (close(here).ok, seen) == (True, [0, 0])


def _handled(pack_id: str = "hand") -> Pack:
    pack = daily(pack_id=pack_id, row=PolicyRow("read"))
    return msgspec.structs.replace(pack, commands={"close": Command(verb_key="close", handler="h")})


def test_a_handler_answers_in_process() -> None:
    here = world(_handled(), handlers={"h": lambda call: {"seen": call.envelope.args}})
    assert close(here, "hand", x=1).result == {"seen": {"confirm": True, "x": 1}}


def test_a_handler_may_deny() -> None:
    here = world(_handled(), handlers={"h": lambda _: deny("unknown_pack", pack_id="nope")})
    assert (close(here, "hand").code, close(here, "hand").error) == ("unknown_pack", "unknown pack nope")


def test_a_handler_that_is_not_installed_cannot_run() -> None:
    here = world(_handled())
    assert close(here, "hand").error == "adapter composite (handler h) is not executable"


def test_a_handlers_value_that_is_no_json_is_an_internal_error() -> None:
    here = world(_handled(), handlers={"h": lambda _: object()})
    assert close(here, "hand").code == "internal"


def test_a_handler_is_mocked_by_a_fixture_only() -> None:
    here = world(_handled(), handlers={"h": lambda _: {}})
    assert close(here, "hand", mode="mock").code == "no_mock"


def test_only_what_starts_a_program_leaves_a_digest_of_its_argv() -> None:
    here = world(daily(step("check", "who")))
    assert close(here).ok
    digests = {
        record.attribution.pack_id: record.argv_digest is not None
        for record in here.journal.records
        if record.kind != "intent"
    }
    assert digests == {"daily": False, "bank": True}

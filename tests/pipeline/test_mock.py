"""The mock Binding: only when the envelope says so, and nothing real happens (Spec 01 section 3)."""

from __future__ import annotations

import msgspec
import pytest

from hcpx.vocabulary.pack import Pack
from hcpx.vocabulary.policy import PolicyRow
from tests.doubles import Adapter, World, wrap_pack


def pack(mock: str | None) -> Pack:
    made = wrap_pack({"pay": PolicyRow("write", confirm=True, binding="user")})
    command = msgspec.structs.replace(made.commands["pay"], mock=mock)
    return msgspec.structs.replace(made, commands={"pay": command})


def test_a_fixture_answers_and_nothing_is_started() -> None:
    here = World(pack('{"ok": true, "id": "mock-1"}'))
    result = here.call("pay", {"confirm": True, "mode": "mock"})
    assert (result.ok, result.result) == (True, {"ok": True, "id": "mock-1"})
    assert not here.ran
    assert (here.last.decision, here.last.outcome, here.last.attribution.binding_family) == (
        "mock",
        "ok",
        "mock",
    )


def test_without_a_fixture_the_adapter_runs_with_the_mock_binding() -> None:
    here = World(pack(None))
    assert here.call("pay", {"confirm": True, "mode": "mock"}).ok
    invocation = here.adapter.invocations[0]
    assert (invocation.mock, invocation.binding.family, invocation.binding.env) == (
        True,
        "mock",
        {"TOKEN": "mock-TOKEN"},
    )


def test_where_nothing_can_hold_a_mock_run_it_is_denied() -> None:
    here = World(pack(None))
    here.adapters["wrap"] = adapter = Adapter(mocks=False)
    result = here.call("pay", {"confirm": True, "mode": "mock"})
    assert (result.code, result.step, result.error) == ("no_mock", 5, "no mock for ledger.pay")
    assert adapter.invocations == []
    assert here.hub.minted == []


def test_a_mock_is_never_implicit() -> None:
    here = World(pack('{"ok": true}'))
    assert here.call("pay", {"confirm": True}).code == "binding_missing"


def test_a_mock_still_needs_its_confirm() -> None:
    assert World(pack('{"ok": true}')).call("pay", {"mode": "mock"}).code == "confirm_required"


@pytest.mark.parametrize("mode", ["Mock", "mock ", "", True, 1, ["mock"]], ids=repr)
def test_any_other_mode_is_refused(mode: object) -> None:
    here = World(pack('{"ok": true}'))
    result = here.call("pay", {"confirm": True, "mode": mode})
    assert (result.code, result.error) == ("invalid_args", 'invalid args: /mode: only "mock" is known')
    assert not here.ran

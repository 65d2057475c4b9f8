"""A clock that is set back, or on: nothing that was made to end gains time, and doctor says so."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from hcpx.runtime.clock import SystemClock
from hcpx.store.errors import NotFound
from hcpx.store.session_rows import NewSession
from hcpx.vocabulary.capability import Grant
from tests.runtime.conftest import House

DAY = 24 * 3600.0


class Hands:
    """The clock of every runtime of this process, so many seconds off."""

    off = 0.0


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    moved = Hands()
    monkeypatch.setattr(SystemClock, "now", lambda _: time.time() + moved.off)
    return moved


def approved(house: House) -> str:
    """Ask for an approval of `wire`, have it given, and return its id."""
    house.owner.grant("user:judge", Grant("verb.approve", "tool", ("*",)))
    token, _ = house.owner.sessions.new(NewSession("local", "user:judge"))
    asked = house.call("wire", {"confirm": True})
    house.runtime.books.decide(house.runtime.session(token), asked.approval.id, "approve")
    return asked.approval.id


@pytest.mark.parametrize("off", [-400 * DAY, -2 * 3600, 2 * 3600], ids=["a-year-back", "two-hours-back", "on"])
def test_an_approval_gains_no_time_by_the_clock(house: House, hands: Hands, off: float) -> None:
    house.installed()
    first = approved(house)
    hands.off = off
    result = house.call("wire", {"confirm": True})
    assert (result.code, result.approval.id != first) == ("approval_required", True)
    assert [one.id for one in house.runtime.books.approvals("local", waiting=True)] == [result.approval.id]
    assert house.runtime.books.approval(first).state == "expired"


def test_a_step_back_of_seconds_takes_nothing_away(house: House, hands: Hands) -> None:
    house.installed()
    approved(house)
    hands.off = -5
    assert house.call("wire", {"confirm": True}).ok


@pytest.mark.parametrize("off", [-400 * DAY, -2 * 3600, 2 * 3600], ids=["a-year-back", "two-hours-back", "on"])
def test_a_session_that_ends_gains_no_time_by_the_clock(house: House, hands: Hands, off: float) -> None:
    house.installed()
    token, row = house.owner.new_session(packs=["tool"], ttl_s=3600)
    lasting, _ = house.owner.new_session(packs=["tool"])
    assert house.call("see", token=token).ok
    hands.off = off
    house.owner.new_session()  # a change, after which nothing is answered from memory
    assert house.call("see", token=token).code == "unauthenticated"
    assert house.owner.sessions.show(row.id).live is False
    assert house.call("see", token=lasting).ok
    assert house.call("see").ok


def test_a_key_holds_its_write_whatever_the_clock_does(house: House, hands: Hands) -> None:
    house.installed()
    envelope = {"pack_id": "tool", "verb_key": "set", "args": {"confirm": True}, "idempotency_key": "k-1"}
    first = house.runtime.execute(envelope, token=None, face="api")
    hands.off = -400 * DAY
    again = house.runtime.execute(envelope, token=None, face="api")
    assert (again.ok, str(again.warnings)) == (True, f"('replayed: this is the recorded result of {first.audit_id}',)")


def test_doctor_names_a_clock_behind_the_audit(house: House, hands: Hands) -> None:
    house.installed()
    assert house.call("see").ok
    hands.off = -DAY
    assert house.call("see").ok
    (check,) = [one for one in house.runtime.books.doctor() if one.name == "clock"]
    assert (check.ok, check.fix) == (False, "set the clock of this machine")
    assert all(verdict.broken is None for verdict in house.runtime.books.verify())


def test_a_request_of_another_tenant_is_as_good_as_none(house: House) -> None:
    house.installed()
    asked = house.call("wire", {"confirm": True})
    house.owner.grant("user:judge", Grant("verb.approve", "*", ("*",)), "other")
    token, _ = house.owner.sessions.new(NewSession("other", "user:judge"))
    session = house.runtime.session(token)
    told: list[str] = []
    for approval_id in (asked.approval.id, "p_nothing"):
        for verdict in ("approve", "deny"):
            with pytest.raises(NotFound) as refused:
                house.runtime.books.decide(session, approval_id, verdict)
            told.append(str(refused.value).replace(approval_id, "ID"))
    assert set(told) == {"no approval ID; see: hcpx approvals list"}


REPLAYED: dict[str, Any] = {
    "a minus and 4,300 digits": f"[-{'2' * 4300}]",
    "512 levels": "[" * 512 + "]" * 512,
    "numbers": "[1.0, 2, 1e300, 0.1]",
    "text": "no JSON {",
}


@pytest.mark.parametrize("printed", REPLAYED.values(), ids=REPLAYED.keys())
def test_a_replay_gives_the_recorded_result_to_the_last_sign(house: House, printed: str) -> None:
    house.installed(
        commands={"print": {"summary": "s", "cli": ["tool", "raw", "--", "{{text}}"], "json_flag": None}},
        policy={"print": {"operation": "write", "confirm": False}},
    )
    args = {"text": printed}
    envelope = {"pack_id": "tool", "verb_key": "print", "args": args, "idempotency_key": "k-1"}
    first, again = (house.runtime.execute(envelope, token=None, face="api") for _ in range(2))
    assert again.ok
    own = ("audit_id", "duration_ms", "warnings")
    texts = [json.loads(one.to_json(), parse_float=str, parse_int=str) for one in (first, again)]
    assert {name: texts[0][name] for name in texts[0] if name not in own} == {
        name: texts[1][name] for name in texts[1] if name not in own
    }

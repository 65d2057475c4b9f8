"""A short decision table of the seven steps, held against the real pipeline on 10,000 generated calls."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hcpx.ports import Call, Credential
from hcpx.vocabulary.approval import Decision
from hcpx.vocabulary.capability import NEEDED, Grant
from hcpx.vocabulary.denial import deny
from hcpx.vocabulary.invocation import Ran
from hcpx.vocabulary.pack import Wrap
from hcpx.vocabulary.policy import Overlay, PolicyRow
from tests.doubles import NOW, PROJECT, World, wrap_pack

GRANTS = st.builds(
    Grant,
    st.sampled_from(["verb.exec.read", "verb.exec.write", "pack.connect", "verb.approve"]),
    st.sampled_from(["*", "p", "q"]),
    st.sampled_from([("*",), ("v",), ("w", "v"), ("w",), ()]),
)


class Case(msgspec.Struct, frozen=True):
    """One call and the world it meets: every field is a fact that some gate asks for."""

    live: bool
    readable: bool
    known: bool
    activated: str
    has_row: bool
    operation: Any
    land: Any
    workspace: Any
    project: bool
    grants: list[Grant]
    scope: list[Grant] | None
    forbidden: bool
    confirm: bool
    consent: Any
    mode: Any
    amount: Any
    approvals: int
    approved: bool
    family: Any
    connected: bool
    fixture: bool
    mockable: bool
    runnable: bool
    exit_code: int


def cases() -> st.SearchStrategy[Case]:
    mostly = st.sampled_from([True] * 7 + [False])
    every = (
        Grant("verb.exec.read", "*", ("*",)),
        Grant("verb.exec.write", "p", ("v",)),
        Grant("pack.connect", "*", ("v",)),
    )
    return st.builds(
        Case,
        live=mostly,
        readable=mostly,
        known=mostly,
        activated=st.sampled_from(["now"] * 6 + ["older", "never"]),
        has_row=mostly,
        operation=st.sampled_from(["read", "write", "connect"]),
        land=st.sampled_from(["none", "none", "brain"]),
        workspace=st.sampled_from(["pack", "pack", "project"]),
        project=mostly,
        grants=st.lists(GRANTS, max_size=3) | st.just(list(every)),
        scope=st.none() | st.none() | st.lists(GRANTS, max_size=3),
        forbidden=st.sampled_from([False] * 7 + [True]),
        confirm=st.booleans(),
        consent=st.sampled_from([{}, {"confirm": True}, {"apply": True}, {"confirm": "true"}, {"confirm": 1}]),
        mode=st.sampled_from([None, None, None, "mock", "Mock"]),
        amount=st.sampled_from([1, "2.80", None, "--all", {"a": 1}]),
        approvals=st.sampled_from([0, 0, 1]),
        approved=st.booleans(),
        family=st.sampled_from(["public", "user", "mothership"]),
        connected=st.booleans(),
        fixture=st.booleans(),
        mockable=st.booleans(),
        runnable=mostly,
        exit_code=st.sampled_from([0, 0, 3]),
    )


def expected(case: Case) -> tuple[str | None, int | None]:  # noqa: C901, PLR0911, PLR0912 -- the table, one line a gate
    """Return the code and step that Spec 01 section 3 gives, in its order."""
    mock = case.mode == "mock"
    if not case.live:
        return "unauthenticated", 2
    if not case.readable:
        return "invalid_envelope", 1
    if not case.known:
        return "unknown_pack", 1
    if case.activated != "now":
        return ("pack_changed" if case.activated == "older" else "pack_not_activated"), 1
    if not case.has_row:
        return "no_policy", 1
    if (case.land == "brain" or case.workspace == "project") and not case.project:
        return "project_required", 2
    if not _covers(case.grants, case) or (case.scope is not None and not _covers(case.scope, case)):
        return "denied", 3
    if case.forbidden:
        return "forbidden", 3
    if case.confirm and not any(value is True for value in case.consent.values()):
        return "confirm_required", 4
    if case.mode == "Mock" or case.amount in ("--all", {"a": 1}):
        return "invalid_args", 4
    if case.approvals and not case.approved:
        return "approval_required", 4
    if mock and not case.fixture and not case.mockable:
        return "no_mock", 5
    if not mock and case.family != "public" and not case.connected:
        return "binding_missing", 5
    if mock and case.fixture:
        return None, None
    if not case.runnable:
        return "not_allowlisted", 6
    return ("exit", 6) if case.exit_code else (None, None)


def _covers(grants: list[Grant], case: Case) -> bool:
    return any(
        g.capability == NEEDED[case.operation] and g.pack_id in ("*", "p") and ({"*", "v"} & {*g.verb_keys})
        for g in grants
    )


def played(case: Case) -> tuple[World, Call]:
    row = PolicyRow(case.operation, confirm=case.confirm, approvals=case.approvals, binding=case.family, land=case.land)
    pack = wrap_pack({"v": row}, "p", wrap=Wrap(bin="bin/x", workspace=case.workspace))
    command = msgspec.structs.replace(pack.commands["v"], mock='{"ok":true}' if case.fixture else None)
    pack = msgspec.structs.replace(pack, commands={"v": command}, policy={"v": row} if case.has_row else {})
    here = World(
        pack,
        activations={"now": {"p": pack.digest}, "older": {"p": "sha256:older"}, "never": {}}[case.activated],
        project=PROJECT if case.project else None,
        scope=None if case.scope is None else tuple(case.scope),
    )
    if not case.known:
        here.packs.clear()
    here.grants = {"user:ada": case.grants, "user:grace": [Grant("verb.approve", "*", ("*",))]}
    if case.forbidden:
        here.overlays["p", "v"] = Overlay(deny=True)
    if case.connected:
        here.hub.bindings["user:ada", "p", case.family] = "tok-1234567"
    here.adapter.mocks = case.mockable
    failed = Ran(code="exit", error="exit 3", exit_code=3)
    here.adapter.answer = (failed if case.exit_code else None) if case.runnable else deny("not_allowlisted", bin="x")
    args = {"amount": case.amount} | case.consent | ({} if case.mode is None else {"mode": case.mode})
    envelope = {"pack_id": "p", "verb_key": "v", "args": args} | ({} if case.readable else {"tenant": "x"})
    return here, Call(envelope, World.TOKEN if case.live else Credential("another"))


@pytest.mark.slow
@settings(
    max_examples=10_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
    database=None,
)
@given(cases())
def test_the_pipeline_agrees_with_the_table(case: Case) -> None:
    here, call = played(case)
    result = here.execute(call)
    if case.approved and result.code == "approval_required":
        here.approvals.decide("p_1", Decision("user:grace", "approve", NOW))
        result = here.execute(call)
    code, step = expected(case)
    assert (result.ok, result.to_dict().get("code"), result.to_dict().get("step")) == (
        code is None,
        code,
        step,
    )
    _nothing_runs_after_a_denial(here, step)


def _nothing_runs_after_a_denial(here: World, step: int | None) -> None:
    if step is not None and step < 6:
        assert not here.ran
    if step is not None and step < 5:
        assert here.hub.minted == []
        assert all(record.kind != "intent" for record in here.journal.records)
    assert here.journal.records

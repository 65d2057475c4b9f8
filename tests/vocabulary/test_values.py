"""Small frozen values: ids, grants, rows, Bindings, Results, the cancel handle."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary.approval import Approval, Ask, Decision, own_call
from hcpx.vocabulary.binding import PUBLIC, Binding
from hcpx.vocabulary.capability import Grant
from hcpx.vocabulary.invocation import Cancel
from hcpx.vocabulary.policy import Limits, Overlay, PolicyRow, tightened
from hcpx.vocabulary.principal import Session, is_pack_id, is_principal_id, is_scope_id, is_verb_key
from hcpx.vocabulary.record import Attribution, AuditRecord
from hcpx.vocabulary.result import Result
from hcpx.vocabulary.signal import Signal


@pytest.mark.parametrize(
    "text", ["user:ada", "agent:Claude_3.5", "service:billing@acme", "user:7", "user:" + "a" * 251]
)
def test_a_kind_and_a_name_are_a_principal(text: str) -> None:
    assert is_principal_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "user:",
        ":ada",
        "User:ada",
        "user1:ada",
        "user:-ada",
        "user:a b",
        "user:é",
        "user:a\n",
        "user:a:b",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert not is_principal_id(text)


def test_a_principal_of_more_than_256_characters_is_none() -> None:
    assert not is_principal_id("user:" + "a" * 252)


@pytest.mark.parametrize("text", ["a", "ledger", "hcp-cli", "a1-2b", "a" * 64])
def test_a_slug_is_a_pack_id(text: str) -> None:
    assert is_pack_id(text)
    assert is_scope_id(text)


@pytest.mark.parametrize(
    "text", ["", "1a", "-a", "a-", "a--b", "A", "a_b", "a.b", "../ledger", "ledger\n", "ledger\0", "a" * 65]
)
def test_a_text_that_is_no_slug_is_no_id(text: str) -> None:
    assert not is_pack_id(text)
    assert not is_scope_id(text)


@pytest.mark.parametrize("text", ["null", "none", "true", "false"])
def test_a_word_of_json_is_a_pack_id_but_no_tenant_or_project(text: str) -> None:
    assert is_pack_id(text)
    assert not is_scope_id(text)


@pytest.mark.parametrize("text", ["a", "transfer", "setup.apply", "7.x_y-z", "a.b.c", "v" * 128])
def test_segments_joined_by_single_dots_are_a_verb_key(text: str) -> None:
    assert is_verb_key(text)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "A", "-a", "_a", "a b", "a\n", "é", "a.-b", "v" * 129])
def test_a_text_that_is_none_is_no_verb_key(text: str) -> None:
    assert not is_verb_key(text)


GRANT = Grant("verb.exec.read", "ledger", ("balance",))


@pytest.mark.parametrize(
    ("grant", "covers"),
    [
        (GRANT, True),
        (Grant("verb.exec.read", "*", ("*",)), True),
        (Grant("verb.exec.read", "ledger", ("other", "balance")), True),
        (Grant("verb.exec.read", "ledger", ()), False),
        (Grant("verb.exec.write", "ledger", ("balance",)), False),
        (Grant("verb.exec.read", "ledge", ("balance",)), False),
        (Grant("verb.exec.read", "ledger*", ("balance",)), False),
        (Grant("verb.exec.read", "ledger", ("bal*",)), False),
        (Grant("verb.exec.read", "ledger", ("balance", "x"), until=100.0), False),
        (Grant("verb.exec.read", "ledger", ("balance",), until=100.5), True),
    ],
    ids=str,
)
def test_a_grant_covers_exact_names_until_it_ends(grant: Grant, covers: bool) -> None:
    assert grant.names("verb.exec.read", "ledger", "balance", 100.0) is covers


def test_without_an_overlay_a_row_stays_as_it_is() -> None:
    row = PolicyRow("write", confirm=True)
    assert tightened(row, None) is row
    assert tightened(row, Overlay()) == row


def test_an_overlay_tightens_every_part() -> None:
    row = PolicyRow("write", approvals=1, limits=Limits(timeout_s=30, asked=("timeout_s",)), args_schema=("a",))
    overlay = Overlay(
        confirm=True,
        approvals=2,
        deny=True,
        limits={"timeout_s": 2.5, "output_bytes": 1000.0},
        args_schema="b",
    )
    assert tightened(row, overlay) == PolicyRow(
        "write",
        confirm=True,
        approvals=2,
        forbidden=True,
        limits=Limits(timeout_s=2.5, output_bytes=1000, asked=("output_bytes", "timeout_s")),
        args_schema=("a", "b"),
    )


@given(
    st.booleans(),
    st.integers(0, 9),
    st.integers(1, 100),
    st.booleans(),
    st.integers(0, 9),
    st.booleans(),
    st.integers(1, 100),
)
def test_an_overlay_never_loosens(
    confirm: bool,
    approvals: int,
    seconds: int,
    also: bool,
    more: int,
    deny: bool,
    limit: int,
) -> None:
    row = PolicyRow("read", confirm=confirm, approvals=approvals, limits=Limits(timeout_s=seconds))
    after = tightened(row, Overlay(confirm=also, approvals=more, deny=deny, limits={"timeout_s": limit}))
    assert after.confirm is (confirm or also)
    assert after.approvals == max(approvals, more)
    assert after.limits.timeout_s == min(seconds, limit)
    assert after.forbidden is deny


def test_a_binding_tells_nothing_in_its_repr() -> None:
    binding = Binding("user", {"TOKEN": "s3cret-value"}, ("f", "s3cret-file", "V"), ("s3cret-value",))
    assert repr(binding) == str(binding) == "Binding('user', ...)"
    assert repr(PUBLIC) == "Binding('public', ...)"


def test_a_result_is_true_where_it_is_ok_and_absent_fields_are_left_out() -> None:
    good = Result(True, "ledger", "balance", result=None, audit_id="a-1", duration_ms=1.5)
    bad = Result(False, None, None, error="unauthenticated", code="unauthenticated", step=2)
    assert good
    assert not bad
    assert good.to_dict() == {
        "ok": True,
        "pack_id": "ledger",
        "verb_key": "balance",
        "result": None,
        "audit_id": "a-1",
        "duration_ms": 1.5,
    }
    assert json.loads(good.to_json()) == good.to_dict()
    assert "result" not in bad.to_dict()
    match bad:
        case Result(code="unauthenticated"):
            pass
        case _:
            pytest.fail("a Result matches on its code")


ASK = Ask("acme", "user:ada", None, "bank", "wire", "d-1", 1, {"args": {"amount": 5}})
WHO = Attribution(
    "2030-01-01T00:00:00Z", "acme", "user:ada", None, "human", "s-1", None, "bank", "d", "wire", "write",
    None, None, None, None,
)  # fmt: skip


@pytest.mark.parametrize(
    ("session", "caller_actor", "own"),
    [
        (Session("s", "acme", "user:grace"), None, False),
        (Session("s", "acme", "user:grace"), "agent:claude", False),
        (Session("s", "acme", "user:ada"), None, True),
        (Session("s", "acme", "agent:claude"), "agent:claude", True),
        (Session("s", "acme", "user:grace", actor="agent:claude"), None, True),
        (Session("s", "acme", "user:grace", actor="agent:claude"), "agent:claude", True),
    ],
    ids=["another", "another, of an agent's call", "the caller", "the caller's actor", "an actor", "both"],
)
def test_nobody_decides_on_a_call_of_their_own_and_no_actor_on_any(
    session: Session, caller_actor: str | None, own: bool
) -> None:
    ask = msgspec.structs.replace(ASK, actor=caller_actor)
    assert own_call(Approval("ap-1", ask, 1.0, 601.0, "pending"), session) is own


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(ASK, id="ask"),
        pytest.param(
            Approval("ap-1", ASK, 1.0, 601.0, "denied", (Decision("user:grace", "deny", 2.0, "too much"),)),
            id="approval",
        ),
        pytest.param(AuditRecord("a-1", "entry", WHO, "denied", code="confirm_required", step=4), id="record"),
        pytest.param(Signal("s-1", 1.0, "acme", "bank", "credential", "warning", "stale", ttl_s=60.0), id="signal"),
    ],
)
def test_a_stored_value_comes_back_as_it_was(value: msgspec.Struct) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


def test_a_record_keeps_no_field_that_says_nothing() -> None:
    record = AuditRecord("a-1", "entry", WHO, "denied", code="confirm_required", step=4)
    kept = msgspec.to_builtins(record)
    assert sorted(kept) == ["attribution", "audit_id", "code", "decision", "kind", "step"]


def test_a_frozen_value_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        GRANT.pack_id = "other"  # pyright: ignore[reportAttributeAccessIssue] -- that it fails is the point
    assert msgspec.structs.replace(GRANT, pack_id="other") == Grant("verb.exec.read", "other", ("balance",))


def test_cancel_wakes_everybody_who_waits_and_those_who_come_later() -> None:
    cancel, woken = Cancel(), list[str]()
    cancel.on_cancel(lambda: woken.append("first"))
    forget = cancel.on_cancel(lambda: woken.append("gone"))
    forget()
    assert (cancel.cancelled, woken) == (False, [])
    cancel.cancel()
    assert (cancel.cancelled, woken) == (True, ["first"])
    cancel.on_cancel(lambda: woken.append("late"))
    assert woken == ["first", "late"]
    cancel.cancel()
    assert cancel.cancelled

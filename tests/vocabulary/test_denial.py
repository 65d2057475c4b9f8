"""The catalogue of denials and failures (Spec 07), text by text."""

from __future__ import annotations

import shlex

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.vocabulary.denial import CATALOGUE, ApprovalTicket, Cause, Denial, denial_for, deny, hint_for, shell_quoted

# code, steps, CLI exit, what fills the text, the text, the hint
ROWS: list[tuple[str, tuple[int, ...], int | None, dict[str, str], str, str | None]] = [
    ("invalid_envelope", (1,), 64, {"what": "not JSON"}, "invalid envelope: not JSON", None),
    ("unknown_pack", (1,), 69, {"pack_id": "nope"}, "unknown pack nope", "hcpx pack list"),
    ("pack_not_activated", (1,), 69, {"pack_id": "ledger"},
     "pack ledger not activated", "hcpx activate ledger"),
    ("pack_changed", (1,), 69, {"pack_id": "ledger"},
     "pack ledger changed since activation", "hcpx activate ledger"),
    ("no_policy", (1,), 69, {"pack_id": "ledger", "verb_key": "x"},
     "no policy for x", "hcpx pack show ledger"),
    ("unauthenticated", (2,), 77, {}, "unauthenticated", "hcpx session new"),
    ("project_required", (2,), 77, {"what": "privacy.land brain"},
     "privacy.land brain requires project_id", "hcpx project add ID DIR"),
    ("denied", (3,), 77,
     {"capability": "verb.exec.write", "pack_id": "ledger", "verb_key": "pay", "principal": "user:ada"},
     "denied: missing verb.exec.write for ledger.pay",
     "hcpx grant user:ada verb.exec.write --pack ledger --verb pay"),
    ("forbidden", (3,), 77, {"pack_id": "ledger", "verb_key": "pay"},
     "denied: policy forbids ledger.pay", "hcpx policy show ledger"),
    ("confirm_required", (4,), 75, {}, "confirm required", 'once it is agreed, send "confirm": true in args'),
    ("invalid_args", (4,), 64, {"pointer": "/amount", "why": "missing"},
     "invalid args: /amount: missing", None),
    ("approval_required", (4,), 75, {"approval_id": "ap-1"},
     "approval required", "somebody else decides: hcpx approvals approve ap-1"),
    ("approval_denied", (4,), 77, {"reason": "too much"}, "approval denied: too much", None),
    ("idempotency_conflict", (4,), 77, {},
     "denied: idempotency_key reused", "use a new idempotency_key for a call that differs"),
    ("binding_missing", (5,), 78, {"family": "user", "pack_id": "ledger"},
     "binding user for ledger: not connected", "hcpx connect ledger"),
    ("binding_stale", (5,), 78, {"family": "user", "pack_id": "ledger", "why": "expired"},
     "binding user for ledger: stale: expired", "hcpx connect ledger"),
    ("binding_unavailable", (5,), 78, {"family": "user", "pack_id": "ledger", "why": "no answer"},
     "binding user for ledger: unavailable: no answer", "hcpx doctor"),
    ("binding_forbidden", (5,), 78, {"family": "local", "pack_id": "ledger", "why": "not accepted"},
     "binding local for ledger: forbidden: not accepted", "hcpx connect ledger"),
    ("no_mock", (5,), 78, {"pack_id": "ledger", "verb_key": "pay"},
     "no mock for ledger.pay", "declare a mock fixture for the command in its pack.yaml"),
    ("audit_unavailable", (5,), 70, {}, "audit unavailable", "hcpx doctor"),
    ("not_allowlisted", (6,), 127, {"bin": "git"}, 'sandbox: bin "git" not allowlisted', "hcpx allow git"),
    ("not_executable", (6,), 127, {"bin": "git", "why": "no run bit"},
     'sandbox: bin "git" cannot be executed: no run bit', None),
    ("sandbox_unavailable", (6,), 127, {"why": "no user namespaces"},
     "sandbox: unavailable: no user namespaces", "hcpx doctor"),
    ("adapter_not_executable", (6,), 70, {"kind": "openapi"}, "adapter openapi is not executable", None),
    ("store_unavailable", (1,), 70, {"why": "disk full"}, "store unavailable: disk full", "hcpx doctor"),
    ("timeout", (6,), 124, {"seconds": "30"}, "timeout after 30 s", None),
    ("cancelled", (6,), 130, {}, "cancelled", None),
    ("exit", (6,), None, {"text": "exit 3"}, "exit 3", None),
    ("upstream", (6,), 70, {"text": "http 500: broken"}, "http 500: broken", None),
    ("step_failed", (6,), 70, {"name": "pay", "error": "confirm required"},
     "step pay: confirm required", None),
    ("owner_required", (), 77,
     {},
     "only the store's owner may do this",
     "run it without --session and with HCP_SESSION unset, as the user who owns the store"),
    ("usage", (), 2, {"what": "no such option"}, "no such option", "hcpx --help"),
    ("lint_failed", (), 65, {"what": "pack.yaml:3:1: bad"}, "pack.yaml:3:1: bad", "hcpx pack lint"),
    ("not_found", (), 66, {"what": "no such approval"}, "no such approval", None),
    ("exists", (), 73, {"what": "project p1 exists"}, "project p1 exists", None),
    ("busy", (6, 4), 75, {"limit": "16 calls"}, "busy: 16 calls", "try again when a running call has ended"),
    ("outcome_unknown", (4, 7), 70, {}, "outcome unknown", "hcpx audit list"),
    ("internal", (1, 2, 3, 4, 5, 6, 7), 70, {"id": "t-1"}, "internal error t-1", "hcpx doctor"),
]  # fmt: skip


def test_the_table_below_is_the_whole_catalogue() -> None:
    assert sorted(CATALOGUE) == sorted(code for code, *_ in ROWS)
    assert {code: entry.code for code, entry in CATALOGUE.items()} == {code: code for code in CATALOGUE}


@pytest.mark.parametrize(("code", "steps", "status", "fields", "error", "hint"), ROWS, ids=[code for code, *_ in ROWS])
def test_each_code_has_its_steps_its_exit_status_its_text_and_its_next_action(
    code: str,
    steps: tuple[int, ...],
    status: int | None,
    fields: dict[str, str],
    error: str,
    hint: str | None,
) -> None:
    entry = CATALOGUE[code]
    assert (entry.steps, entry.exit) == (steps, status)
    assert deny(code, step=None, hint=None, **fields) == Denial(code, steps[0] if steps else 0, error, hint)


def test_the_step_can_be_chosen_where_a_code_can_end_several() -> None:
    assert deny("busy", step=4, limit="in use").step == 4
    assert deny("outcome_unknown", step=7).step == 7


def test_a_hint_can_be_replaced() -> None:
    assert deny("not_allowlisted", bin="x", hint="hcpx allow /bin/x").hint == "hcpx allow /bin/x"


def test_a_hint_that_lacks_a_value_is_left_out() -> None:
    assert deny("denied", capability="pack.connect", pack_id="ledger", verb_key="link").hint is None


def test_invisible_characters_are_escaped_in_texts_and_hints() -> None:
    denial = deny("pack_not_activated", pack_id="led\nger\u202e")
    assert denial.error == "pack led\\u{000A}ger\\u{202E} not activated"
    assert denial.hint == "hcpx activate 'led\\u{000A}ger\\u{202E}'"


def test_braces_in_a_value_are_not_filled_in_again() -> None:
    assert deny("unknown_pack", pack_id="{pack_id} {0} {{x}}").error == "unknown pack {pack_id} {0} {{x}}"
    assert deny("not_allowlisted", bin="{bin}").hint == "hcpx allow '{bin}'"


def test_an_error_keeps_its_first_4_kib() -> None:
    assert deny("exit", text="é" * 4000).error == "é" * 2048


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("git", "git"),
        ("/usr/bin/git", "/usr/bin/git"),
        ("user:ada", "user:ada"),
        ("", "''"),
        ("*", "'*'"),
        ("a b", "'a b'"),
        ("it's", "'it'\"'\"'s'"),
        ("$(id)", "'$(id)'"),
        ("`id`", "'`id`'"),
        ("~", "'~'"),
        ("a;b", "'a;b'"),
        ("a\nb", "'a\\u{000A}b'"),
        ("é", "'é'"),
    ],
)
def test_a_value_in_a_hint_is_quoted_for_a_shell(value: str, quoted: str) -> None:
    assert shell_quoted(value) == quoted


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_a_shell_reads_a_quoted_value_as_one_word(value: str) -> None:
    assert shlex.split(f"hcpx allow {shell_quoted(value)}") == ["hcpx", "allow", value]


@given(st.text(st.characters()))
def test_a_hint_is_always_one_line_of_one_command(value: str) -> None:
    hint = deny("not_allowlisted", bin=value).hint
    assert hint is not None
    assert hint.isprintable()
    assert len(shlex.split(hint)) == 3


def test_an_actor_is_sent_to_the_owner_for_commands_and_only_for_those() -> None:
    asked = "ask the store's owner to run: hcpx allow git"
    assert hint_for("agent:claude", "hcpx allow git") == asked
    assert hint_for(None, "hcpx allow git") == "hcpx allow git"
    sentence = "try again when a running call has ended"
    assert hint_for("agent:claude", sentence) == sentence
    assert hint_for("agent:claude", None) is None
    denial = deny("not_allowlisted", bin="git")
    assert denial_for("agent:claude", denial) == msgspec.structs.replace(denial, hint=asked)
    assert denial_for(None, denial) == denial


def test_a_denial_carries_its_approval_and_its_cause() -> None:
    ticket = ApprovalTicket("ap-1", "d", "2030-01-01T00:00:00Z")
    cause = Cause("approval_required", 4, "bank", "wire", ticket)
    denial = Denial("step_failed", 6, "step pay: approval required", approval=ticket, cause=cause)
    assert denial.cause is not None
    assert denial.cause.approval == denial.approval

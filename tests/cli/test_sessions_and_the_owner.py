"""A session that is given, live or not, is never the owner; reading makes nothing (Spec 05 section 1)."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from hcpx.faces.cli.kinds import Act, Change, Draft, InSession, OwnerRead, Read
from hcpx.runtime import Runtime
from hcpx.vocabulary.capability import Grant
from tests.cli.conftest import Hcpx
from tests.cli.shell import Said
from tests.cli.test_groups import LEAVES

OWNERS = ("owner_required", "only the store's owner may do this")
PLACES = {"capability": "verb.exec.read", "bin_name": "git"}
# `allow` lists or changes by what it is given: either way it is the owner's.
OWNER_ONLY = [words for words, one in LEAVES.items() if isinstance(one, (Change, Draft, OwnerRead))] + ["allow"]
READING = [
    words for words, one in LEAVES.items() if isinstance(one, Read) or words in ("availability", "doctor", "skill")
]
SESSIONS = {"empty": "", "dead": "hcps_nobody"}


def line(words: str) -> list[str]:
    """A command line that can be read: the command with a word in every place that needs one."""
    command = LEAVES[words]
    given = words.split()
    for param in command.params:
        if isinstance(param, click.Argument) and (
            param.required or param.name in ("principal", "capability", "bin_name")
        ):
            given.append(PLACES.get(str(param.name), "user:ada" if param.name == "principal" else "x"))
        elif param.required:
            given += [param.opts[0], "x"]
    return given


def told(said: Said) -> tuple[int, str, str]:
    document = said.document()
    return said.status, document["code"], document["error"]


@pytest.mark.parametrize("words", OWNER_ONLY)
@pytest.mark.parametrize("session", SESSIONS.values(), ids=SESSIONS.keys())
def test_no_session_that_is_given_may_do_what_is_the_owners(words: str, session: str, hcpx: Hcpx, home: Path) -> None:
    assert told(hcpx(*line(words), "--json", session=session)) == (77, *OWNERS)
    assert told(hcpx(*line(words), "--json", "--session", session)) == (77, *OWNERS)
    assert not home.exists()


@pytest.mark.parametrize("words", OWNER_ONLY)
def test_a_live_session_may_not_do_what_is_the_owners(words: str, hcpx: Hcpx, token: str) -> None:
    assert told(hcpx(*line(words), "--json", session=token)) == (77, *OWNERS)


@pytest.mark.parametrize("words", READING)
def test_reading_makes_no_store_and_says_that_there_is_none(words: str, hcpx: Hcpx, home: Path) -> None:
    said = hcpx(*line(words), "--json")
    document = said.document()
    assert not home.exists()
    if said.status == 0:
        assert document["ok"] is True
    else:
        assert (said.status, document["code"]) == (66, "not_found")
        assert document["error"] == f"there is no store in {home} yet"


@pytest.mark.parametrize("words", [*READING, "approvals approve", "approvals deny"])
@pytest.mark.parametrize("session", SESSIONS.values(), ids=SESSIONS.keys())
def test_a_session_that_is_not_live_reads_nothing(words: str, session: str, hcpx: Hcpx, store: Path) -> None:
    code = "owner_required" if words in OWNER_ONLY else "unauthenticated"
    status, found, _ = told(hcpx(*line(words), "--json", session=session))
    assert (status, found) == (77, code)


@pytest.mark.parametrize("words", READING)
def test_a_dead_session_is_no_reason_to_make_a_store(words: str, hcpx: Hcpx, home: Path) -> None:
    status, code, _ = told(hcpx(*line(words), "--json", session="hcps_nobody"))
    assert (status, code) == (77, "owner_required" if words in OWNER_ONLY else "unauthenticated")
    assert not home.exists()


def test_every_command_that_opens_a_store_is_of_a_kind_that_looks_at_the_session() -> None:
    alone = {words for words, one in LEAVES.items() if not isinstance(one, InSession)}
    assert alone == {"exec", "pack lint", "schema", "conformance", "demo", "completion"}
    assert {words for words, one in LEAVES.items() if isinstance(one, Act)} == {
        "approvals approve",
        "approvals deny",
    }


def test_a_session_sees_its_own_part_and_no_more(hcpx: Hcpx, store: Path) -> None:
    runtime = Runtime.open()
    mine, row = runtime.owner.new_session(principal="user:ada", packs=("transit",), ttl_s=600)
    runtime.owner.grant("user:bob", Grant("verb.exec.read", "transit", ("*",)))
    runtime.close()
    assert hcpx("exec", "transit", "stops", "--json").status == 0
    assert hcpx("exec", "transit", "stops", "--json", session=mine).status == 77
    calls = hcpx("audit", "list", "--json", session=mine).document()["calls"]
    assert [(call["principal"], call["code"]) for call in calls] == [("user:ada", "denied")]
    assert len(hcpx("audit", "list", "--json").document()["calls"]) == 2
    assert [one["id"] for one in hcpx("session", "list", "--json", session=mine).document()["sessions"]] == [row.id]
    assert hcpx("grants", "--json", session=mine).document()["grants"] == []
    assert told(hcpx("grants", "user:bob", "--json", session=mine)) == (77, *OWNERS)
    people = hcpx("principal", "list", "--json", session=mine).document()["principals"]
    assert [one["id"] for one in people] == ["user:ada"]
    packs = hcpx("pack", "list", "--json", session=mine).document()["packs"]
    assert packs[0] == {"id": "ledger", "title": "Demo ledger", "activated": False}
    assert (packs[1]["id"], packs[1]["activated"]) == ("transit", True)
    assert told(hcpx("pack", "show", "ledger", "--json", session=mine))[:2] == (69, "pack_not_activated")
    assert told(hcpx("policy", "show", "ledger", "--json", session=mine))[:2] == (69, "pack_not_activated")
    assert hcpx("policy", "show", "transit.book", "--json", session=mine).document()["rows"]["book"]["confirm"]


def test_another_ones_call_reads_like_one_that_is_not_there(hcpx: Hcpx, token: str, store: Path) -> None:
    runtime = Runtime.open()
    other, _ = runtime.owner.new_session(principal="user:ada", ttl_s=600)
    runtime.close()
    own = hcpx("exec", "transit", "stops", "--json").document()["audit_id"]
    hidden = told(hcpx("audit", "show", own, "--json", session=other))
    missing = told(hcpx("audit", "show", "a_nowhere", "--json", session=other))
    assert hidden == (66, "not_found", f"no call {own}; see: hcpx audit list")
    assert missing == (66, "not_found", "no call a_nowhere; see: hcpx audit list")
    assert hcpx("audit", "show", own, "--json").document()["records"]


def test_audit_read_opens_the_tenants_audit(hcpx: Hcpx, store: Path) -> None:
    runtime = Runtime.open()
    made, _ = runtime.owner.new_session(principal="user:ada", ttl_s=600)
    runtime.close()
    assert hcpx("exec", "transit", "stops", "--json").status == 0
    assert hcpx("exec", "ledger", "balance", "--json").status == 0
    for command in (("audit", "verify"), ("audit", "export")):
        assert told(hcpx(*command, "--json", session=made)) == (
            77,
            "denied",
            "denied: missing audit.read for *.*",
        )

    hcpx("grant", "user:ada", "audit.read", "--pack", "transit", "--verb", "*")
    calls = hcpx("audit", "list", "--json", session=made).document()["calls"]
    assert [call["pack_id"] for call in calls] == ["transit"]
    assert hcpx("audit", "verify", session=made).status == 77

    hcpx("grant", "user:ada", "audit.read", "--pack", "*", "--verb", "*")
    calls = hcpx("audit", "list", "--json", session=made).document()["calls"]
    assert [call["pack_id"] for call in calls] == ["ledger", "transit"]
    assert hcpx("audit", "verify", "--json", session=made).document()["chains"] == [
        {"tenant": "local", "records": 2, "ok": True}
    ]
    assert hcpx("audit", "export", "--tenant", "other", "--json", session=made).status == 77


def test_the_token_of_a_new_session_is_alone_on_stdout(hcpx: Hcpx, store: Path) -> None:
    options = ("--actor", "agent:claude", "--pack", "ledger", "--read-only", "--ttl", "8h")
    said = hcpx("session", "new", *options)
    assert (said.status, said.err) == (0, "")
    token = said.out.removesuffix("\n")
    assert token.startswith("hcps_")
    assert len(token.split()) == 1
    shown = hcpx("session", "show", "--json", session=token).document()
    assert (shown["actor"], shown["live"], list(shown["activations"])) == ("agent:claude", True, ["ledger"])
    assert shown["scope"] == [{"capability": "verb.exec.read", "pack_id": "ledger", "verb_keys": ["*"]}]
    assert token not in hcpx("session", "list", "--json").out
    assert hcpx("exec", "ledger", "balance", "--json", session=token).status == 0
    assert hcpx("session", "revoke", shown["id"]).status == 0
    assert hcpx("exec", "ledger", "balance", "--json", session=token).status == 77


def test_a_person_decides_in_their_own_session_and_nobody_on_their_own_call(hcpx: Hcpx, store: Path) -> None:
    hcpx("policy", "tighten", "transit.book", "--approvals", "1")
    call = ("exec", "transit", "book", "--json", "--", "option=opt-1", "confirm=true")
    assert hcpx("exec", "transit", "plan", "--json", "--", "from=A", "to=B").status == 0
    asked = hcpx(*call).document()
    assert asked["code"] == "approval_required"
    wanted = asked["approval"]["id"]
    assert [one["id"] for one in hcpx("approvals", "list", "--json").document()["approvals"]] == [wanted]

    made = hcpx("session", "new", "--principal", "user:ada").out.strip()
    assert hcpx("approvals", "list", "--json", session=made).document()["approvals"] == []
    assert told(hcpx("approvals", "show", wanted, "--json", session=made))[:2] == (66, "not_found")
    assert told(hcpx("approvals", "approve", wanted, "--json", session=made))[:2] == (77, "denied")

    hcpx("grant", "user:ada", "verb.approve", "--pack", "transit", "--verb", "*")
    agent = hcpx("session", "new", "--principal", "user:ada", "--actor", "agent:x").out.strip()
    assert hcpx("approvals", "show", wanted, "--json", session=made).document()["shown"]
    assert told(hcpx("approvals", "approve", wanted, "--json", session=agent))[1] == "forbidden"
    seen = hcpx("approvals", "show", wanted, session=made).out
    rows = dict(line.split(maxsplit=1) for line in seen.splitlines())
    assert (rows["shown.pack.id"], rows["shown.args.option"]) == ("transit", "opt-1")
    decided = hcpx("approvals", "approve", wanted, session=made)
    assert decided.out == f"approval {wanted} has 1 of 1: the call may be made again\n"
    shown = hcpx("approvals", "show", wanted, "--json", session=made).document()
    assert [(one["principal"], one["verdict"]) for one in shown["decisions"]] == [("user:ada", "approve")]
    assert hcpx(*call).status == 0
    assert hcpx("approvals", "list", "--json").document()["approvals"] == []
    assert hcpx("approvals", "list", "--all", "--json").document()["approvals"][0]["state"] == "used"


def test_a_denied_request_tells_the_reason(hcpx: Hcpx, store: Path) -> None:
    hcpx("policy", "tighten", "transit.book", "--approvals", "1")
    call = ("exec", "transit", "book", "--json", "--", "option=opt-1", "confirm=true")
    hcpx("exec", "transit", "plan", "--", "from=A", "to=B")
    wanted = hcpx(*call).document()["approval"]["id"]
    made = hcpx("session", "new", "--principal", "user:ada").out.strip()
    hcpx("grant", "user:ada", "verb.approve", "--pack", "transit", "--verb", "*")
    assert hcpx("approvals", "deny", wanted, "--reason", "not today", session=made).status == 0
    assert told(hcpx(*call)) == (77, "approval_denied", "approval denied: not today")

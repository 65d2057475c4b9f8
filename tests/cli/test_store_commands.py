"""What the owner changes is what is read afterwards, for each group of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Hcpx
from tests.cli.shell import Terminal, run

KEEPS = """hcp: 1
id: keeps
version: 1.0.0
title: Keeps
kind: wrap
wrap: {bin: bin/keeps, json_flag: null}
commands: {go: {summary: Say it, cli: [keeps], args: {}}}
policy: {go: {operation: read, privacy: {land: brain}}}
skills: []
"""


def read(hcpx: Hcpx, *words: str) -> Any:
    said = hcpx(*words, "--json")
    assert (said.status, said.err) == (0, "")
    document = said.document()
    del document["ok"]
    return document


def done(hcpx: Hcpx, *words: str) -> dict[str, Any]:
    said = hcpx(*words, "--json")
    assert (said.status, said.err, said.document()["ok"]) == (0, "", True), said
    return said.document()


@pytest.mark.usefixtures("store")
def test_settings_are_set_read_and_unset(hcpx: Hcpx) -> None:
    assert read(hcpx, "config", "list") == {"settings": {"sandbox": "native-local"}}
    done(hcpx, "config", "set", "sandbox", "sandbox")
    assert read(hcpx, "config", "get", "sandbox") == {"name": "sandbox", "value": "sandbox"}
    done(hcpx, "config", "unset", "sandbox")
    assert read(hcpx, "config", "list") == {"settings": {"sandbox": "sandbox"}}


@pytest.mark.usefixtures("store")
def test_projects_are_added_listed_and_forgotten(hcpx: Hcpx, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to("here")
    done(hcpx, "project", "add", "here", str(tmp_path / "link"))
    assert read(hcpx, "project", "list") == {"projects": [{"id": "here", "directory": str(tmp_path / "here")}]}
    made = done(hcpx, "session", "new", "--project", "here")
    assert made["project"] == "here"
    assert hcpx("project", "list", session=made["token"]).out.splitlines()[1].startswith("here")
    done(hcpx, "project", "remove", "here", "-y")
    assert read(hcpx, "project", "list") == {"projects": []}
    assert (tmp_path / "here").is_dir()


@pytest.mark.usefixtures("store")
def test_a_disabled_principal_or_actor_calls_no_more(hcpx: Hcpx) -> None:
    token = done(hcpx, "session", "new", "--actor", "agent:x")["token"]
    call = ("exec", "transit", "stops", "--json")
    assert hcpx(*call, session=token).status == 0
    done(hcpx, "principal", "disable", "agent:x")
    assert hcpx(*call, session=token).document()["code"] == "unauthenticated"
    people = {one["id"]: one["enabled"] for one in read(hcpx, "principal", "list")["principals"]}
    assert people["agent:x"] is False
    done(hcpx, "principal", "enable", "agent:x")
    assert hcpx(*call, session=token).status == 0


@pytest.mark.usefixtures("store")
def test_a_grant_is_given_as_narrow_as_it_was_said_and_taken_back(hcpx: Hcpx, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"properties": {"from": {"const": "A"}}}')
    options = ("--pack", "transit", "--verb", "plan", "--args-schema", str(tmp_path / "schema.json"), "--until", "1h")
    made = done(hcpx, "grant", "user:ada", "verb.exec.read", *options)
    token = done(hcpx, "session", "new", "--principal", "user:ada")["token"]
    plan = ("exec", "transit", "plan", "--json", "--")
    assert hcpx(*plan, "from=A", "to=B", session=token).status == 0
    assert hcpx(*plan, "from=B", "to=A", session=token).document()["code"] == "denied"
    (listed,) = read(hcpx, "grants", "user:ada")["grants"]
    assert (listed["id"], listed["verb_keys"], listed["until"]) == (made["id"], ["plan"], made["until"])
    assert done(hcpx, "revoke", "--id", str(made["id"]))["revoked"] == [made["id"]]
    assert hcpx(*plan, "from=A", "to=B", session=token).status == 77
    done(hcpx, "grant", "user:ada", "verb.exec.read", "--pack", "*", "--verb", "stops", "--verb", "plan")
    assert hcpx("exec", "transit", "stops", "--json", session=token).status == 0
    done(hcpx, "revoke", "user:ada", "verb.exec.read", "--pack", "*", "--verb", "plan", "--verb", "stops")
    assert read(hcpx, "grants", "user:ada") == {"grants": []}


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("schema", ["{", "[]", '{"type": 7}', '{"$ref": "https://example.com/x"}'])
def test_a_schema_that_cannot_be_used_is_refused(schema: str, hcpx: Hcpx, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(schema)
    given = ("--args-schema", str(tmp_path / "schema.json"), "--json")
    granted = hcpx("grant", "user:ada", "verb.exec.read", "--pack", "transit", "--verb", "*", *given)
    tightened = hcpx("policy", "tighten", "transit.plan", *given)
    assert [(said.status, said.document()["code"]) for said in (granted, tightened)] == [(2, "usage")] * 2
    assert read(hcpx, "grants", "user:ada") == {"grants": []}


@pytest.mark.usefixtures("store")
def test_a_tightened_row_holds_for_everybody_and_only_grows_stricter(hcpx: Hcpx, tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"properties": {"from": {"const": "A"}}}')
    done(hcpx, "policy", "tighten", "transit.plan", "--confirm", "--args-schema", str(tmp_path / "schema.json"))
    row = done(hcpx, "policy", "tighten", "transit.plan", "--timeout-s", "2.5", "--processes", "7")["row"]
    assert (row["confirm"], row["limits"]["timeout_s"], row["limits"]["processes"]) == (True, 2.5, 7)
    shown = read(hcpx, "policy", "show", "transit.plan")["rows"]["plan"]
    assert shown == row
    assert shown["args_schema"] == [{"properties": {"from": {"const": "A"}}}]
    plan = ("exec", "transit", "plan", "--json", "--", "to=C", "confirm=true")
    assert hcpx(*plan, "from=B").document()["code"] == "invalid_args"
    done(hcpx, "policy", "tighten", "transit.plan", "--deny")
    assert hcpx(*plan, "from=A").document()["error"] == "denied: policy forbids transit.plan"


@pytest.mark.usefixtures("store")
def test_a_program_is_allowed_by_its_real_path_until_it_is_removed(hcpx: Hcpx) -> None:
    assert read(hcpx, "allow", "--list") == {"allowed": {}}
    path = done(hcpx, "allow", "sh")["path"]
    assert path == str(Path("/bin/sh").resolve())
    assert read(hcpx, "allow", "--list") == {"allowed": {"sh": path}}
    done(hcpx, "allow", "--remove", "sh")
    assert read(hcpx, "allow", "--list") == {"allowed": {}}


def test_a_credential_is_connected_rotated_and_forgotten(hcpx: Hcpx, store: Path) -> None:
    whoami = ("exec", "ledger", "whoami", "--json")
    assert run(store, "connect", "ledger", stdin=b"some-secret").status == 0
    (held,) = read(hcpx, "bindings")["bindings"]
    assert (held["pack_id"], held["family"], held["kind"]) == ("ledger", "user", "secret")
    assert read(hcpx, "vault", "status")["secrets"] == 1
    before = hcpx(*whoami).document()["result"]["token_digest"]
    key = read(hcpx, "vault", "status")["key_id"]
    assert done(hcpx, "vault", "rotate")["secrets"] == 1
    assert read(hcpx, "vault", "status")["key_id"] != key
    assert hcpx(*whoami).document()["result"]["token_digest"] == before
    assert done(hcpx, "disconnect", "ledger")["family"] == "user"
    assert read(hcpx, "bindings") == {"bindings": []}
    assert hcpx(*whoami).document()["code"] == "binding_missing"


def test_a_credential_of_another_principal_is_theirs_alone(hcpx: Hcpx, store: Path) -> None:
    assert run(store, "connect", "ledger", "--principal", "user:ada", stdin=b"adas-secret").status == 0
    assert hcpx("exec", "ledger", "whoami", "--json").document()["code"] == "binding_missing"
    done(hcpx, "grant", "user:ada", "verb.exec.read", "--pack", "ledger", "--verb", "*")
    token = done(hcpx, "session", "new", "--principal", "user:ada")["token"]
    assert hcpx("exec", "ledger", "whoami", "--json", session=token).status == 0


def test_what_lands_in_the_brain_is_listed_and_shown(
    hcpx: Hcpx, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keeps" / "bin").mkdir(parents=True)
    (tmp_path / "keeps" / "pack.yaml").write_text(KEEPS)
    (tmp_path / "keeps" / "bin" / "keeps").write_text("#!/bin/sh\necho '{\"kept\": 9007199254740993}'\n")
    (tmp_path / "keeps" / "bin" / "keeps").chmod(0o755)
    (tmp_path / "here").mkdir()
    for words in (("pack", "add", str(tmp_path / "keeps")), ("activate", "keeps")):
        assert hcpx(*words).status == 0
    assert read(hcpx, "brain", "list") == {"results": []}
    done(hcpx, "project", "add", "here", str(tmp_path / "here"))
    monkeypatch.chdir(tmp_path / "here")
    call = hcpx("exec", "keeps", "go", "--json").document()
    assert call["ok"], call
    (listed,) = read(hcpx, "brain", "list", "here")["results"]
    assert (listed["audit_id"], listed["project"]) == (call["audit_id"], "here")
    assert read(hcpx, "brain", "list")["results"] == [listed]
    assert read(hcpx, "brain", "show", call["audit_id"])["result"]["result"] == {"kept": 9007199254740993}
    token = done(hcpx, "session", "new", "--principal", "user:ada")["token"]
    assert hcpx("brain", "list", "--json", session=token).document()["results"] == []
    assert hcpx("brain", "list", "here", "--json", session=token).status == 66
    assert hcpx("brain", "show", call["audit_id"], "--json", session=token).status == 66


@pytest.mark.usefixtures("store")
def test_the_audit_is_listed_by_what_is_asked_and_exported_as_it_is_stored(hcpx: Hcpx) -> None:
    hcpx("exec", "transit", "stops")
    hcpx("exec", "transit", "book", "--", "option=opt-1")
    hcpx("exec", "ledger", "balance")

    def verbs(*words: str) -> list[str]:
        return [call["verb_key"] for call in read(hcpx, "audit", "list", *words)["calls"]]

    assert verbs() == ["balance", "book", "stops"]
    assert verbs("--pack", "transit") == ["book", "stops"]
    assert verbs("--decision", "denied") == ["book"]
    assert verbs("--code", "confirm_required") == ["book"]
    assert verbs("--outcome", "ok", "--limit", "1") == ["balance"]
    assert verbs("--since", "1h", "--until", "2099-01-01T00:00:00+02:00") == ["balance", "book", "stops"]
    assert verbs("--until", "1h") == []
    lines = hcpx("audit", "export").out.splitlines()
    records = hcpx("audit", "export", "--json").document()["records"]
    assert len(lines) == len(records) == 3
    from hashlib import sha256

    assert records[1]["prev"] == sha256(lines[0].encode()).hexdigest()
    assert read(hcpx, "audit", "verify")["chains"] == [{"tenant": "local", "records": 3, "ok": True}]


@pytest.mark.usefixtures("store")
def test_a_skill_is_a_lead_first_and_a_text_when_named(hcpx: Hcpx) -> None:
    leads = read(hcpx, "skill")["skills"]
    assert [(one["pack"], one["name"]) for one in leads] == [("ledger", "ledger"), ("transit", "transit")]
    assert [one["pack"] for one in read(hcpx, "skill", "transit")["skills"]] == ["transit"]
    text = read(hcpx, "skill", "transit", "transit")["text"]
    assert hcpx("skill", "transit", "transit").out.rstrip("\n") == text.rstrip("\n")
    assert hcpx("skill", "transit", "nope", "--json").status == 66


@pytest.mark.usefixtures("store")
def test_availability_and_doctor_are_asked_by_an_envelope_and_recorded(hcpx: Hcpx, token: str) -> None:
    commands = read(hcpx, "availability", "ledger")["commands"]
    assert {one["verb_key"]: one["available"] for one in commands}["transfer"] is False
    (one,) = hcpx("availability", "transit", "book", "--json", session=token).document()["commands"]
    assert (one["available"], one["code"]) == (False, "denied")
    assert one["hint"].startswith("ask the store's owner to run: hcpx session new ")
    assert hcpx("doctor", "--json").document()["ok"] is True
    calls = read(hcpx, "audit", "list")["calls"]
    assert [(call["pack_id"], call["verb_key"]) for call in calls] == [
        ("hcp-cli", "hcp.doctor"),
        ("hcp-cli", "hcp.availability"),
        ("hcp-cli", "hcp.availability"),
    ]


def test_ctrl_c_at_the_question_runs_nothing(store: Path) -> None:
    assert run(store, "exec", "transit", "plan", "--", "from=A", "to=B").status == 0
    terminal = Terminal(store, "exec", "transit", "book", "--", "option=opt-1")
    terminal.wait_for("[y/N] ")
    terminal.process.send_signal(2)
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
    assert run(store, "exec", "transit", "bookings", "--json").document()["result"]["bookings"] == []

"""Group E: the environment of a program, and whose credential reaches it (Spec 03)."""

from __future__ import annotations

import base64
import json
import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.field_troubles.site import READ, WRITE, Site, ledger

TOKEN = {"env": {"LEDGER_TOKEN": "{{access_token}}"}}
USER_READ = {"operation": "read", "binding": "user"}
GIVEN = {
    "HOME", "HCP_BINDING", "HCP_PACK_ID", "HCP_REQUEST_ID", "HCP_SANDBOX", "HCP_VERB_KEY", "LANG", "NO_COLOR",
    "PATH", "PWD", "TERM", "TMPDIR", "TZ",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_e1_a_program_gets_nothing_of_the_runtimes_environment(site: Site, mode: str) -> None:
    site.owner.configure("sandbox", mode)
    site.install("depot", wrap={"agent_env": {"FROM_PACK": "yes"}}, commands={"env": ["depot", "env"]})
    planted = {"DEPOT_SECRET": "canary-7", "AWS_SECRET_ACCESS_KEY": "canary-7", "LC_ALL": "C", "FROM_PACK": "canary-7"}
    done = site.cli("exec", "depot", "env", "--json", env=planted)
    seen = done.body["result"]["env"]
    assert b"canary-7" not in done.stdout + done.stderr + site.exported()
    assert (seen["FROM_PACK"], seen["HCP_SANDBOX"], seen["LC_ALL"]) == ("yes", mode, "C")
    assert set(seen) - {"FROM_PACK", "LC_ALL"} <= GIVEN


def test_e2_no_token_that_lies_around_stands_in_for_a_mint(site: Site) -> None:
    ledger(site, binding=TOKEN, policy={"transfer": {"operation": "write", "confirm": True, "binding": "user"}})
    rights = (WRITE, "ledger", ["transfer"])
    one, two = site.person("user:p-1", rights), site.person("user:p-2", rights)
    site.owner.bindings.connect("ledger", "minted-for-p1", principal="user:p-1")
    ambient = {"LEDGER_TOKEN": "ambient-1", "HCP_BINDING": "ambient-1"}
    call = ("exec", "ledger", "transfer", "--json", "--", "amount=1", "payee=demo", "confirm=true")

    refused = site.cli(*call, token=two, env=ambient)
    assert (refused.status, refused.body["error"]) == (78, "binding user for ledger: not connected")
    assert site.started() == 0
    served = site.cli(*call, token=one, env=ambient)
    assert (served.status, served.body["result"]["env"]["LEDGER_TOKEN"]) == (0, "[redacted]")
    assert "ambient-1" not in served.body["result"]["env"].values()


def test_e2_the_minted_value_is_the_one_that_the_program_gets(site: Site) -> None:
    script = "#!/bin/sh\nprintf '%s' \"$LEDGER_TOKEN\" | sha256sum\n"
    ledger(site, script, binding=TOKEN, policy={"balance": USER_READ})
    token = site.person("user:p-1", (READ, "ledger", ["*"]))
    site.owner.bindings.connect("ledger", "minted-for-p1", principal="user:p-1")
    result = site.cli("exec", "ledger", "balance", "--json", token=token, env={"LEDGER_TOKEN": "ambient-1"})
    assert result.body["stdout"].split()[0] == sha256(b"minted-for-p1").hexdigest()


def test_e3_nobody_is_served_with_anothers_token(site: Site) -> None:
    script = "#!/bin/sh\nprintf '%s' \"$LEDGER_TOKEN\" | sha256sum | cut -c1-64\n"
    site.install(
        "ledger",
        script,
        wrap={"json_flag": None},
        binding=TOKEN,
        commands={"whoami": ["ledger", "whoami"]},
        policy={"whoami": USER_READ},
    )
    people = ["user:p-1", "user:p-2", "user:p-3"]
    tokens = {who: site.person(who, (READ, "ledger", ["whoami"])) for who in people}
    for who in people[:2]:
        site.owner.bindings.connect("ledger", f"secret-of-{who}", principal=who)
    # The very same principal of another tenant, never connected, and the same pack.
    stranger = site.person("user:p-1", (READ, "ledger", ["whoami"]), tenant="other")

    with ThreadPoolExecutor(8) as pool:
        calls = [(who, pool.submit(site.call, "ledger", "whoami", token=tokens[who])) for who in people * 20]
        answers = {(who, call.result().stdout or call.result().error) for who, call in calls}
    assert answers == {
        *((who, sha256(f"secret-of-{who}".encode()).hexdigest() + "\n") for who in people[:2]),
        ("user:p-3", "binding user for ledger: not connected"),
    }
    assert site.call("ledger", "whoami", token=stranger).code == "unknown_pack"


def test_e4_a_credential_has_no_placeholder_in_a_command_line(site: Site) -> None:
    place = site.write(
        "depot",
        binding={"env": {"DEPOT_TOKEN": "{{access_token}}"}},
        commands={"push": ["depot", "push", "--token", "{{binding.token}}"]},
        policy={"push": USER_READ},
    )
    assert any("binding.token" in error for error in site.refusal(place))


def test_e4_a_secret_arg_is_warned_of_and_masked_in_the_audit(site: Site) -> None:
    push = {
        "summary": "Push",
        "cli": ["depot", "push", "--token", "{{token}}"],
        "args": {"token": {"type": "string", "x-secret": True}},
    }
    place = site.write("depot", commands={"push": push})
    added = site.owner.packs.add(str(place))
    assert any("token" in str(finding) for finding in added.findings if finding.severity == "warning")
    site.owner.packs.activate("depot")
    result = site.call("depot", "push", {"token": "typed-by-hand-1"})
    assert result.ok
    assert b"typed-by-hand-1" not in site.exported()
    assert site.audited(result)["args"]["token"] != "typed-by-hand-1"


def test_e4_a_minted_value_is_in_no_command_line_while_the_program_runs(site: Site) -> None:
    waits = "#!/bin/sh\necho up\nwhile [ ! -e looked ]; do sleep 0.0271; done\n"
    ledger(site, waits, binding=TOKEN, policy={"balance": USER_READ})
    site.owner.bindings.connect("ledger", "minted-and-secret-1")
    seen: list[bytes] = []

    def look(_name: str, _data: bytes) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.append(path.read_bytes())
            except OSError:
                continue
        (workspace,) = site.home.glob("state/workspaces/*")
        (workspace / "looked").touch()

    result = site.call("ledger", "balance", on_output=look)
    assert (result.ok, result.stdout) == (True, "up\n")
    assert any(b"/bin/run" in line for line in seen)
    assert not any(b"minted-and-secret-1" in line for line in seen)


SECRET = 'p@ss/w+rd=="q'
FORMS = {
    "raw": SECRET,
    "percent": quote(SECRET, safe=""),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64url": base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
    "escaped": json.dumps(SECRET)[1:-1],
}


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_e5_no_form_of_a_secret_comes_back(site: Site, face: str) -> None:
    script = (
        "#!/usr/bin/env python3\n"
        "import base64, json, os, sys, urllib.parse\n"
        "s = os.environ['LEDGER_TOKEN']\n"
        "print(json.dumps({'raw': s, 'percent': urllib.parse.quote(s, safe=''),\n"
        "    'base64': base64.b64encode(s.encode()).decode(),\n"
        "    'base64url': base64.urlsafe_b64encode(s.encode()).decode().rstrip('='), 'n': 1}))\n"
        "sys.stderr.write('cannot log in with ' + s)\n"
        "sys.exit(1)\n"
    )
    ledger(site, script, binding=TOKEN, policy={"balance": USER_READ})
    site.owner.bindings.connect("ledger", SECRET)
    result = site.faces('{"pack_id":"ledger","verb_key":"balance","args":{"note":"p@ss/w+rd==\\"q"}}')[face]
    text = json.dumps(result) + json.dumps(result, ensure_ascii=False) + site.exported().decode()
    assert {name: form for name, form in FORMS.items() if form in text} == {}
    assert (result["ok"], result["error"]) == (False, "cannot log in with [redacted]")
    assert result["result"] == dict.fromkeys(["raw", "percent", "base64", "base64url"], "[redacted]") | {"n": 1}
    assert json.loads(result["stdout"]) == result["result"]
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in files_of(site))


def files_of(site: Site) -> list[Path]:
    """Every file below the store's folder."""
    return [path for path in site.home.rglob("*") if path.is_file() and os.access(path, os.R_OK)]

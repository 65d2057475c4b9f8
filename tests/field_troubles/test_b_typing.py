"""Group B: JSON and the types of args (Spec 01 sections 2 and 4, Spec 02 section 2 rule 3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.field_troubles.site import Site, ledger
from tests.field_troubles.test_a_argv import argv

BIG = 1917043659912705297
TRANSFER = '{"pack_id":"ledger","verb_key":"transfer","args":'


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_b1_ids_beyond_a_doubles_precision_keep_every_digit(site: Site, face: str) -> None:
    script = f'#!/bin/sh\nprintf \'{{"id":{BIG},"argv":["%s","%s"]}}\' "$1" "$2"\n'
    site.install("depot", script, commands={"get": ["depot", "get", "--id={{id}}"]})
    body = '{"pack_id":"depot","verb_key":"get","args":{"id":9007199254740993}}'
    result = site.faces(body)[face]
    assert result["result"] == {"id": BIG, "argv": ["get", "--id=9007199254740993"]}
    assert site.audited(result)["args"] == {"id": 9007199254740993}
    assert b"9007199254740993" in site.exported()


@pytest.mark.parametrize("text", ["false", "true", "yes", 1, 0, None, [True], {"confirm": True}], ids=repr)
def test_b2_nothing_but_the_boolean_true_opens_the_gate(site: Site, text: Any) -> None:
    ledger(
        site,
        binding={"env": {"LEDGER_TOKEN": "{{access_token}}"}},
        policy={"transfer": {"operation": "write", "confirm": True, "binding": "user"}},
    )
    for result in site.faces(
        TRANSFER + json.dumps({"amount": "5.00", "payee": "demo", "confirm": text}) + "}"
    ).values():
        assert (result["ok"], result["error"], result["step"]) == (False, "confirm required", 4)
        assert site.audited(result)["credential_id"] is None
    assert site.started() == 0


def test_b2_on_the_command_line_true_and_false_are_booleans(site: Site) -> None:
    ledger(site)
    call = ("exec", "ledger", "transfer", "--json", "--", "amount=5.00", "payee=demo")
    refused = site.cli(*call, "confirm=false")
    assert (refused.status, refused.body["error"], site.started()) == (75, "confirm required", 0)
    agreed = site.cli(*call, "confirm=true")
    assert (agreed.status, agreed.body["ok"], site.started()) == (0, True, 1)
    assert site.audited(agreed.body)["args"]["confirm"] is True


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_b3_a_key_given_twice_is_refused_with_its_name(site: Site, face: str) -> None:
    ledger(site)
    args = '{"confirm":false,"amount":"5.00","payee":"demo","confirm":true}'
    result = site.faces(TRANSFER + args + "}")[face]
    assert (result["ok"], result["code"]) == (False, "invalid_envelope")
    assert result["error"] == "invalid envelope: duplicate key at args.confirm"
    entry = site.audited(result)
    assert (entry["decision"], entry["code"]) == ("denied", "invalid_envelope")
    assert site.started() == 0


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_b4_a_zero_byte_is_refused_by_name_and_the_next_call_works(site: Site, face: str) -> None:
    ledger(site)
    args = {"amount": "1.00", "payee": "demo", "memo": "rent\0--all", "confirm": True}
    result = site.faces(TRANSFER + json.dumps(args) + "}")[face]
    assert (result["ok"], result["code"], site.started()) == (False, "invalid_envelope", 0)
    assert "memo" in result["error"]
    assert site.audited(result)["decision"] == "denied"
    assert site.call("ledger", "transfer", args | {"memo": "rent"}).ok


def test_b5_an_amount_on_the_command_line_stays_as_it_was_written(site: Site) -> None:
    ledger(site)
    done = site.cli(
        "exec", "ledger", "transfer", "--json", "--", "amount=2.80", "payee=demo", "confirm=true"
    )  # fmt: skip
    assert argv(done.body)[:2] == ["transfer", "2.80"]


@pytest.mark.parametrize(
    ("written", "token"),
    [
        ("2.80", "2.8"), ("10.0", "10"), ("0.000001", "0.000001"), ("1e16", "10000000000000000"),
        ("0.10", "0.1"), ("1e-7", "1e-7"), ("1E21", "1e+21"), ("-0.0", "0"), ("5", "5"),
    ],
    ids=str,
)  # fmt: skip
def test_b5_a_json_number_is_written_as_ecmascript_does(site: Site, written: str, token: str) -> None:
    ledger(site)
    for result in site.faces(f'{TRANSFER}{{"amount":{written},"payee":"demo","confirm":true}}}}').values():
        assert argv(result)[1] == token

"""Group A: what a value can and cannot do to the argument list (Spec 02 section 2)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.field_troubles.site import Site, ledger

SHOWS = {
    "show": ["depot", "show", "{{ref}}"],
    "behind": ["depot", "show", "--", "{{ref}}"],
    "glued": ["depot", "show", "--ref={{ref}}"],
}
AWKWARD = "a  b \"c\" 'd' $(id); echo x | y > z * ~ ${HOME}\n\t"


def argv(result: Any) -> list[str]:
    """The arguments that the child saw."""
    body = result["result"] if isinstance(result, dict) else result.result
    return body["argv"]


def envelope(pack_id: str, verb: str, args: dict[str, Any]) -> str:
    return json.dumps({"pack_id": pack_id, "verb_key": verb, "args": args})


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_a1_a_value_that_begins_with_a_dash_never_becomes_an_option(site: Site, face: str) -> None:
    site.install("depot", commands=SHOWS)
    result = site.faces(envelope("depot", "show", {"ref": "--output=leak.txt"}))[face]
    assert (result["ok"], result["code"], result["step"]) == (False, "invalid_args", 4)
    assert result["error"] == 'invalid args: /ref: begins with "-"'
    assert "exit_code" not in result
    assert site.started() == 0
    assert not list(site.folder.rglob("leak.txt"))


def test_a1_an_author_may_let_such_a_value_through(site: Site) -> None:
    site.install("depot", commands=SHOWS)
    args = {"ref": "--output=leak.txt"}
    assert argv(site.call("depot", "behind", args)) == ["show", "--json", "--", "--output=leak.txt"]
    assert argv(site.call("depot", "glued", args)) == ["show", "--ref=--output=leak.txt", "--json"]


@pytest.mark.parametrize(
    ("verb", "args", "outcome"),
    [
        ("bare", {"to": "acct-9"}, "invalid args: /from: missing, and /to would take its place"),
        ("bare", {"from": None, "to": "acct-9"}, "invalid args: /from: missing, and /to would take its place"),
        ("bare", {"from": "", "to": "acct-9"}, ["move", "", "acct-9", "--json"]),
        ("flagged", {"to": "acct-9"}, ["move", "--to", "acct-9", "--json"]),
        ("flagged", {"from": "", "to": "acct-9"}, ["move", "--from", "", "--to", "acct-9", "--json"]),
    ],
    ids=["missing", "null", "empty", "missing-behind-a-flag", "empty-behind-a-flag"],
)
def test_a2_no_value_slides_into_the_place_of_a_missing_one(
    site: Site, verb: str, args: dict[str, Any], outcome: Any
) -> None:
    bare = ["ledger", "move", "{{from}}", "{{to}}"]
    flagged = ["ledger", "move", "--from", "{{from}}", "--to", "{{to}}"]
    site.install("ledger", commands={"bare": bare, "flagged": flagged})
    result = site.call("ledger", verb, args)
    assert (argv(result) if result else result.error) == outcome
    assert site.started() == (1 if result else 0)


@pytest.mark.parametrize("order", list(itertools.permutations(["amount", "payee", "memo"])), ids="-".join)
def test_a3_a_value_that_looks_like_a_placeholder_is_not_rendered_again(site: Site, order: tuple[str, ...]) -> None:
    ledger(site)
    values = {"amount": "1.00", "payee": "{{memo}}", "memo": "{{amount}}"}
    result = site.call("ledger", "transfer", {name: values[name] for name in order} | {"confirm": True})
    assert argv(result) == [
        "transfer", "1.00", "--to", "{{memo}}", "--memo", "{{amount}}", "--confirm", "--json",
    ]  # fmt: skip


def test_a3_what_a_program_prints_is_never_rendered(site: Site) -> None:
    site.install("depot", "#!/bin/sh\nprintf '{{ref}}'\n", commands=SHOWS)
    result = site.call("depot", "show", {"ref": "value-1"})
    assert (result.result, result.stdout) == ("{{ref}}", "{{ref}}")


def test_a4_blanks_quotes_and_shell_signs_stay_one_argument(site: Site) -> None:
    script = (
        "#!/usr/bin/env python3\n"
        "import json, os, sys\n"
        "names = [open(f'/proc/{pid}/comm').read().strip() for pid in os.listdir('/proc') if pid.isdecimal()]\n"
        "print(json.dumps({'argv': sys.argv[1:], 'processes': names, 'files': os.listdir('.')}))\n"
    )
    site.install("notes", script, commands={"add": ["notes", "add", "{{text}}"]})
    seen = site.call("notes", "add", {"text": AWKWARD}).result
    assert seen["argv"] == ["add", AWKWARD, "--json"]
    assert not {"sh", "bash", "dash", "z"} & {*seen["processes"], *seen["files"]}
    assert not list(site.folder.rglob("z"))


def test_a5_the_json_flag_stands_in_front_of_the_end_of_options(site: Site) -> None:
    site.install("depot", commands={"find": ["depot", "find", "{{q}}", "--", "{{path}}"]})
    found = site.call("depot", "find", {"q": "rust", "path": "src"})
    assert argv(found) == ["find", "rust", "--json", "--", "src"]


def test_a5_nothing_in_front_of_the_mark_leaves_room_for_a_value_behind_it(site: Site) -> None:
    site.install("depot", commands={"find": ["depot", "find", "{{q}}", "--", "{{path}}"]})
    result = site.call("depot", "find", {"path": "--json"})
    assert result.error == "invalid args: /q: missing, and /path would take its place"
    assert argv(site.call("depot", "find", {"q": "x", "path": "--json"})) == ["find", "x", "--json", "--", "--json"]

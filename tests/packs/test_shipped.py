"""What every pack that comes with hcpx owes: clean under lint, examples that hold, texts that are there."""

from __future__ import annotations

import json

import pytest

from hcpx.packs.gate import lint
from tests.packs.shipped import NAMES, PACKS, argv, compiled

COMMANDS = [(pack, verb) for pack in NAMES for verb in compiled(pack).commands]


def test_these_packs_are_shipped() -> None:
    assert NAMES == ["git", "jq", "ledger", "sqlite", "transit"]


@pytest.mark.parametrize("pack", NAMES)
def test_lint_finds_nothing_not_even_a_warning(pack: str) -> None:
    assert lint(str(PACKS / pack)) == ()


@pytest.mark.parametrize("pack", NAMES)
def test_a_pack_and_its_skill_bear_the_name_of_its_folder(pack: str) -> None:
    held = compiled(pack)
    assert (held.id, [skill.name for skill in held.skills]) == (pack, [pack])


@pytest.mark.parametrize(("pack", "verb"), COMMANDS)
def test_every_example_renders_to_exactly_its_argv(pack: str, verb: str) -> None:
    examples = compiled(pack).commands[verb].examples
    assert examples
    assert [argv(pack, verb, example.args) for example in examples] == [example.argv for example in examples]


@pytest.mark.parametrize(("pack", "verb"), COMMANDS)
def test_every_command_and_every_arg_says_what_it_is(pack: str, verb: str) -> None:
    command = compiled(pack).commands[verb]
    assert command.summary
    assert command.args_schema is not None
    args = json.loads(command.args_schema).get("properties", {})
    assert [name for name, schema in args.items() if not schema.get("description")] == []


@pytest.mark.parametrize(("pack", "verb"), COMMANDS)
def test_every_write_can_be_rehearsed_and_every_limit_is_shorter_than_a_coffee(pack: str, verb: str) -> None:
    held = compiled(pack)
    row = held.policy[verb]
    assert row.operation == "read" or held.commands[verb].mock is not None
    assert row.limits.timeout_s <= 120


def test_the_ledger_is_the_documented_one() -> None:
    held = compiled("ledger")
    row = held.policy["transfer"]
    assert held.commands["transfer"].cli == (
        "ledger", "transfer", "{{amount}}", "--to", "{{payee}}", "--memo", "{{memo}}", "--confirm",
    )  # fmt: skip
    assert (row.operation, row.confirm, row.binding, row.limits.timeout_s) == ("write", True, "user", 30)
    assert held.binding.env == {"LEDGER_TOKEN": "{{access_token}}"}


def test_what_only_reads_lands_nowhere_and_what_writes_asks_or_can_be_undone() -> None:
    unconfirmed = {
        f"{pack}.{verb}"
        for pack, verb in COMMANDS
        if (row := compiled(pack).policy[verb]).operation == "write" and not row.confirm
    }
    assert unconfirmed == {"git.add", "git.unstage", "git.branch.create"}
    assert {verb for pack, verb in COMMANDS if compiled(pack).policy[verb].operation == "connect"} == set()
    for pack, verb in COMMANDS:
        row = compiled(pack).policy[verb]
        assert row.land == "none" or row.operation == "write"

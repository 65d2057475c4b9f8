"""A command made ready: args, control args, warnings, argv (Spec 01 section 2, Spec 02 section 2)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from hcpx.rendering import command as module
from hcpx.rendering.command import CompiledCommand, arg_names, compile_command
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.pack import Command, Kind, Pack, StepSpec, Wrap

TRANSFER = ("ledger", "transfer", "{{amount}}", "--to", "{{payee}}", "--memo", "{{memo}}", "--confirm")
DECLARED: dict[str, object] = {
    "amount": {"type": ["string", "number"]},
    "payee": {"type": "string"},
    "memo": {"type": "string"},
}


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    module._compiled.clear()
    yield
    module._compiled.clear()


def schema_text(properties: dict[str, object], *required: str) -> str:
    """Write a schema as a manifest's `args` becomes one."""
    return json.dumps({"type": "object", "properties": properties, "required": required, "additionalProperties": False})


def pack_of(command: Command, kind: Kind = "wrap", wrap: Wrap | None = None, digest: str = "d-1") -> Pack:
    return Pack(
        id="ledger",
        version="1.0.0",
        title="Ledger",
        kind=kind,
        digest=digest,
        root="/packs/ledger",
        commands={command.verb_key: command},
        policy={},
        wrap=(wrap or Wrap("bin/ledger")) if kind == "wrap" else None,
    )


def ready(
    properties: dict[str, object] | None = None,
    *required: str,
    cli: tuple[str, ...] | None = TRANSFER,
    json_flag: tuple[str, ...] | None = None,
    wrap: Wrap | None = None,
    verb_key: str = "transfer",
) -> CompiledCommand:
    schema = None if properties is None else schema_text(properties, *required)
    command = Command(verb_key, cli=cli, json_flag=json_flag, args_schema=schema)
    return compile_command(pack_of(command, wrap=wrap), command)


def composite(command: Command) -> CompiledCommand:
    return compile_command(pack_of(command, "composite"), command)


def told(denial: Denial | None) -> str | None:
    return None if denial is None else denial.error.removeprefix("invalid args: ")


def error_of(answer: tuple[str, ...] | Denial) -> str | None:
    assert isinstance(answer, Denial)
    return told(answer)


def test_the_documented_transfer() -> None:
    command = ready(DECLARED, "amount", "payee")
    args: dict[str, object] = {"amount": "2.80", "payee": "demo-transit", "confirm": True}
    assert command.check_args(args) is None
    assert command.warnings(args) == ()
    assert command.render_argv(args) == ("transfer", "2.80", "--to", "demo-transit", "--confirm", "--json")


def test_declared_args_are_checked() -> None:
    command = ready(DECLARED, "amount", "payee")
    assert told(command.check_args({"payee": "x"})) == "/amount: missing"
    assert told(command.check_args({"amount": 1, "payee": "x", "memmo": "y"})) == (
        "/memmo: unknown argument, did you mean memo?"
    )
    assert told(command.check_args({"amount": 1, "payee": 5})) == "/payee: must be a string"
    assert told(command.check_args({"amount": None, "payee": "x"})) == "/amount: missing"
    assert command.check_args({"amount": 1, "payee": "x", "memo": None}) is None
    assert command.warnings({"memmo": "y"}) == ()


def test_a_command_that_declares_no_arg_takes_none_and_one_that_declares_nothing_warns() -> None:
    assert told(ready({}, cli=("x", "y")).check_args({"a": 1})) == "/a: unknown argument"
    open_command = ready(None)
    assert open_command.check_args({"memmo": 1, "amount": 1}) is None
    assert open_command.warnings({"memmo": 1, "amount": 1, "payee": 1}) == (
        "/memmo: unknown argument, did you mean memo?",
    )
    assert open_command.warnings({"zzz\n": 1, "a/b": 1}) == (
        "/zzz\\u{000A}: unknown argument",
        "/a~1b: unknown argument",
    )


def test_a_command_that_only_says_what_is_required_still_warns() -> None:
    schema = json.dumps({"type": "object", "required": ["amount", "extra"], "additionalProperties": True})
    command = Command("transfer", cli=TRANSFER, args_schema=schema)
    compiled = compile_command(pack_of(command), command)
    assert told(compiled.check_args({"extra": 1})) == "/amount: missing"
    assert told(compiled.check_args({"extra": 1, "amount": None})) == "/amount: missing"
    assert compiled.check_args({"extra": 1, "amount": 1, "memmo": 1}) is None
    assert compiled.warnings({"extra": 1, "amount": 1, "memmo": 1, "confirm": True}) == (
        "/memmo: unknown argument, did you mean memo?",
    )


def test_an_open_schema_gives_no_warning() -> None:
    schema = json.dumps({"type": "object", "properties": {"a": {}}, "additionalProperties": True})
    command = Command("x", cli=("x", "{{a}}"), args_schema=schema)
    assert compile_command(pack_of(command), command).warnings({"zzz": 1}) == ()


def test_control_args_give_no_warning() -> None:
    assert ready(None).warnings({"confirm": True, "apply": 1, "mode": "mock"}) == ()


def test_a_thousand_unknown_args_give_few_warnings() -> None:
    warnings = ready(None).warnings({f"x{n}": n for n in range(1000)})
    assert len(warnings) == 11
    assert warnings[-1] == "990 more unknown arguments"
    assert len(ready(None).warnings({f"x{n}": n for n in range(10)})) == 10


class TestControlArgs:
    @pytest.mark.parametrize("declared", [None, {}, DECLARED], ids=["undeclared", "none", "some"])
    def test_only_the_mode_mock_is_known(self, declared: dict[str, object] | None) -> None:
        command = ready(declared)
        assert command.check_args({"mode": "mock"}) is None
        for mode in ("Mock", "", "real", True, None, ["mock"], {"mock": 1}, 0):
            assert told(command.check_args({"mode": mode})) == '/mode: only "mock" is known'

    def test_a_placeholder_declares_no_mode(self) -> None:
        command = ready(None, cli=("chmod", "{{mode}}"))
        assert told(command.check_args({"mode": "644"})) == '/mode: only "mock" is known'

    @pytest.mark.parametrize(
        "properties",
        [
            {"mode": {"enum": ["fast", "slow"]}},
            {"mode": {"type": "string", "enum": ["fast", "slow"]}},
            {"mode": {"type": "integer"}},
            {"mode": {"pattern": "^(fast|slow)$"}},
            {"mode": {"type": "string"}},
            {"mode": {"anyOf": [{"const": "fast"}, {"const": "slow"}]}},
        ],
        ids=str,
    )
    def test_a_declared_mode_may_be_mock_beside_its_own_values(self, properties: dict[str, object]) -> None:
        command = ready(properties, "mode")
        assert command.check_args({"mode": "mock"}) is None
        assert told(command.check_args({"mode": "mock", "x": 1})) == "/x: unknown argument"
        assert told(command.check_args({})) == "/mode: missing"
        assert told(command.check_args({"mode": None})) == "/mode: missing"

    def test_a_declared_mode_keeps_its_own_values(self) -> None:
        command = ready({"mode": {"enum": ["fast", "slow"]}})
        assert command.check_args({"mode": "fast"}) is None
        assert command.check_args({"mode": None}) is None
        assert told(command.check_args({"mode": "mok"})) == '/mode: must be one of "fast" or "slow"'

    def test_confirm_and_apply_are_left_out_of_the_check_unless_declared(self) -> None:
        anything: dict[str, object] = {"confirm": "yes", "apply": None}
        assert ready(DECLARED).check_args(anything) is None
        declared = ready({"confirm": {"type": "boolean"}})
        assert declared.check_args({"confirm": False, "apply": 5}) is None
        assert told(declared.check_args({"confirm": "true"})) == "/confirm: must be true or false"

    def test_they_stay_in_the_args_that_are_rendered(self) -> None:
        command = ready(None, cli=("x", "--yes={{confirm}}", "--mode={{mode}}"))
        assert command.render_argv({"confirm": True, "mode": "mock"}) == (
            "--yes=true",
            "--mode=mock",
            "--json",
        )


class TestTraits:
    def test_a_text_only_arg_takes_no_negative_number_as_text(self) -> None:
        command = ready(DECLARED)
        assert error_of(command.render_argv({"amount": "-5", "payee": "-5"})) == '/payee: begins with "-"'
        assert command.render_argv({"amount": "-5", "payee": "x"}) == (
            *("transfer", "-5", "--to", "x", "--confirm", "--json"),
        )

    def test_an_arg_may_allow_a_dash(self) -> None:
        command = ready({"expr": {"type": "string", "x-allow-dash": True}}, cli=("find", "{{expr}}"))
        assert command.render_argv({"expr": "-name x"}) == ("-name x", "--json")

    def test_secret_args_are_known_by_name_and_never_told(self) -> None:
        command = ready({"pin": {"type": "string", "maxLength": 2, "x-secret": True}, "n": {}})
        assert command.secret == {"pin"}
        assert told(command.check_args({"pin": "hunter2"})) == "/pin: does not fit its schema"
        assert ready(None).secret == frozenset()


class TestTemplates:
    def test_the_json_flag_is_the_commands_own_else_the_packs(self) -> None:
        quiet = Wrap("bin/x", json_flag=("-o", "json"))
        assert ready(None, cli=("x", "y")).render_argv({}) == ("y", "--json")
        assert ready(None, cli=("x", "y"), wrap=quiet).render_argv({}) == ("y", "-o", "json")
        assert ready(None, cli=("x", "y"), wrap=quiet, json_flag=("--j",)).render_argv({}) == ("y", "--j")
        assert ready(None, cli=("x", "y"), wrap=quiet, json_flag=()).render_argv({}) == ("y",)

    def test_a_command_without_cli_renders_the_packs_template(self) -> None:
        wrap = Wrap("bin/x", argv_template=("argv", "{{verb}}", "{{amount}}"))
        command = ready(None, cli=None, wrap=wrap, verb_key="setup.apply")
        assert command.render_argv({"amount": 3, "verb": "drop"}) == ("argv", "apply", "3", "--json")
        assert command.warnings({"amount": 3, "verb": "drop"}) == ("/verb: unknown argument",)

    def test_cli_comes_before_the_packs_template(self) -> None:
        assert ready(None, cli=("x",), wrap=Wrap("bin/x", argv_template=("y",))).render_argv({}) == ("--json",)

    def test_a_command_with_neither_is_refused_and_not_run_bare(self) -> None:
        command = ready(None, cli=None)
        assert error_of(command.render_argv({})) == ": the command has neither cli nor argv_template"

    @pytest.mark.parametrize("kind", ["composite", "openapi", "sense_only", "mcp"])
    def test_a_kind_that_starts_no_program_has_an_empty_argv(self, kind: Kind) -> None:
        command = Command("x", cli=("x", "y"))
        assert compile_command(pack_of(command, kind), command).render_argv({"a": {}}) == ()


class TestNamesOfComposites:
    STEPS = (
        StepSpec(
            "one",
            "bank",
            "who",
            {"a": {"$arg": "amount"}, "b": [{"c": {"$arg": "payee"}}, {"$arg": "amount"}]},
        ),
        StepSpec("two", "bank", "pay", {"x": {"$step": "one", "path": "/a"}, "y": {"$arg": 5}, "z": "$arg"}),
    )

    def test_are_the_args_of_its_steps_and_of_its_output(self) -> None:
        command = composite(Command("close", steps=self.STEPS, output='{"paid": {"$arg": "memo"}}'))
        assert command.known == ("amount", "payee", "memo")
        assert command.check_args({"zzz": 1}) is None
        assert command.warnings({"amount": 1, "memmo": 1}) == ("/memmo: unknown argument, did you mean memo?",)
        assert composite(Command("close", steps=self.STEPS)).known == ("amount", "payee")

    def test_are_the_declared_ones_where_there_are_any(self) -> None:
        command = composite(Command("close", steps=self.STEPS, args_schema=schema_text({"amount": {}})))
        assert told(command.check_args({"payee": 1})) == "/payee: unknown argument"
        assert command.warnings({"payee": 1}) == ()

    def test_cannot_be_told_where_a_handler_takes_them(self) -> None:
        command = composite(Command("close", handler="mine:close"))
        assert command.known is None
        assert command.warnings({"anything": 1}) == ()

    def test_a_mapping_of_more_than_one_key_is_literal(self) -> None:
        assert list(arg_names({"$arg": "a", "other": {"$arg": "b"}})) == ["b"]


def test_a_schema_that_cannot_be_used_refuses_every_call() -> None:
    command = Command("x", cli=("x",), args_schema='{"type": "nothing"}')
    denial = compile_command(pack_of(command), command).check_args({})
    assert denial is not None
    assert denial.error.startswith("invalid args: : the schema of the args cannot be used: /type: ")


class TestWhatIsKept:
    def test_a_command_is_compiled_once_for_each_content(self) -> None:
        command = Command("x", cli=("x", "{{a}}"))
        pack = pack_of(command)
        first = compile_command(pack, command)
        assert compile_command(pack, command) is first
        same = Command("x", cli=("x", "{{a}}"))
        assert compile_command(pack_of(same), same) is first

    def test_another_content_under_the_same_digest_is_never_mistaken(self) -> None:
        one, two = Command("x", cli=("x", "one")), Command("x", cli=("x", "two"))
        assert compile_command(pack_of(one), one).render_argv({}) == ("one", "--json")
        assert compile_command(pack_of(two), two).render_argv({}) == ("two", "--json")
        bare = pack_of(two, wrap=Wrap("bin/x", json_flag=()))
        assert compile_command(bare, two).render_argv({}) == ("two",)
        assert compile_command(pack_of(two, "composite"), two).render_argv({}) == ()

    def test_another_digest_is_another_command(self) -> None:
        command = Command("x", cli=("x",))
        assert compile_command(pack_of(command), command) is not compile_command(
            pack_of(command, digest="d-2"), command
        )

    def test_only_so_many_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_MOST_COMMANDS", 2)
        commands = [Command(verb_key, cli=("x", verb_key)) for verb_key in ("a", "b", "c")]
        for command in commands:
            assert compile_command(pack_of(command), command).render_argv({}) == (command.verb_key, "--json")
        assert list(module._compiled) == [("d-1", "c")]


def test_plain_schemas_never_load_the_schema_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    command = ready({**DECLARED, "never seen before": {}}, "amount", "payee")
    assert command.check_args({"amount": 1, "payee": "x", "confirm": True}) is None
    with pytest.raises(ModuleNotFoundError):
        command.check_args({})

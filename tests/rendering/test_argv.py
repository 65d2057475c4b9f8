"""Rendering rule by rule (Spec 02 section 2, Spec 08 points 6 to 9)."""

from __future__ import annotations

import pytest

from hcpx.rendering.argv import render
from hcpx.rendering.template import compile_argv_template, compile_cli
from hcpx.rendering.traits import Trait
from hcpx.vocabulary.denial import Denial

JSON = ("--json",)
TEXT_ONLY = Trait(string_only=True)
DASH = Trait(allow_dash=True)


def rendered(
    cli: str | list[str],
    args: dict[str, object],
    traits: dict[str, Trait] | None = None,
    json_flag: tuple[str, ...] = JSON,
) -> list[str] | str:
    """Render the tokens behind the bin's name: the argv, or what is refused and why."""
    tokens = cli.split() if isinstance(cli, str) else cli
    return told(render(compile_cli(("bin", *tokens), json_flag), args, traits or {}))


def by_template(tokens: str, verb_key: str, args: dict[str, object]) -> list[str] | str:
    return told(render(compile_argv_template(tuple(tokens.split()), verb_key, JSON), args, {}))


def told(answer: tuple[str, ...] | Denial) -> list[str] | str:
    if isinstance(answer, Denial):
        assert (answer.code, answer.step) == ("invalid_args", 4)
        return answer.error.removeprefix("invalid args: ")
    return list(answer)


class TestRule1TheFirstTokenOfCliIsDropped:
    def test_it_is_the_name_of_the_program(self) -> None:
        assert rendered("sub", {}) == ["sub", "--json"]

    def test_even_where_it_looks_like_a_placeholder_or_a_mark(self) -> None:
        for name in ("{{a}}", "--", "-x"):
            template = compile_cli((name, "{{a}}"), JSON)
            assert told(render(template, {"a": "x"}, {})) == ["x", "--json"]
            assert told(render(template, {}, {})) == ["--json"]

    def test_nothing_but_the_name_is_an_argv_of_nothing_but_the_json_flag(self) -> None:
        assert rendered("", {}) == ["--json"]


class TestRule2PlaceholdersBecomeValues:
    @pytest.mark.parametrize(
        ("cli", "args", "argv"),
        [
            ("{{a}} {{b}}", {"a": "x", "b": "y"}, ["x", "y"]),
            ("--to={{to}}", {"to": "a b"}, ["--to=a b"]),
            ("--to {{to}}", {"to": "x"}, ["--to", "x"]),
            ("{{a}}:{{b}}", {"a": "x", "b": "y"}, ["x:y"]),
            ("pre{{a}}mid{{b}}post", {"a": 1, "b": 2}, ["pre1mid2post"]),
            ("{{a}}{{a}}", {"a": "x"}, ["xx"]),
            ("{{a-b}} {{_c1}}", {"a-b": "x", "_c1": "y"}, ["x", "y"]),
            ("{{{a}}}", {"a": "x"}, ["{x}"]),
        ],
    )
    def test_in_every_place(self, cli: str, args: dict[str, object], argv: list[str]) -> None:
        assert rendered(cli, args, json_flag=()) == argv

    @pytest.mark.parametrize(
        "token",
        [
            "{{.Name}}",
            "{{ a }}",
            "{{}}",
            "{a}",
            "{{1a}}",
            "{{-a}}",
            "{{a.b}}",
            "{{é}}",
            "{{a}",
            "}}a{{",
            "${HOME}",
        ],
    )
    def test_other_braces_are_literal_text(self, token: str) -> None:
        assert rendered([token], {"a": "x", "Name": "y"}, json_flag=()) == [token]

    def test_what_was_rendered_is_not_rendered_again(self) -> None:
        args: dict[str, object] = {"a": "{{b}}", "b": "{{a}}", "c": "{{a}}{{b}}"}
        assert rendered("{{a}} {{b}} --c={{c}}", args, json_flag=()) == ["{{b}}", "{{a}}", "--c={{a}}{{b}}"]

    def test_braces_that_meet_across_values_are_no_placeholder(self) -> None:
        assert rendered("{{a}}{{b}}", {"a": "{{c", "b": "}}", "c": "x"}, json_flag=()) == ["{{c}}"]


class TestRule3StringIsEcmaScripts:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (10, "10"),
            (10.0, "10"),
            (2.80, "2.8"),
            (-0.0, "0"),
            (1e21, "1e+21"),
            (1e-7, "1e-7"),
            (1e16, "10000000000000000"),
            (0.00001, "0.00001"),
            (123456789012345678901234567890, "123456789012345678901234567890"),
            (9007199254740993, "9007199254740993"),
            (True, "true"),
            (False, "false"),
            ("10.0", "10.0"),
            ([1, "x", True], "1,x,true"),
            ([None, 1, None], ",1,"),
            ([[1, [2, 3]], [], "a"], "1,2,3,,a"),
            ([], ""),
            ([None], ""),
            ([[]], ""),
            ([1.0, 1e21], "1,1e+21"),
        ],
        ids=repr,
    )
    def test_for_every_kind_of_value(self, value: object, text: str) -> None:
        assert rendered("{{a}}", {"a": value}, json_flag=()) == [text]

    @pytest.mark.parametrize("value", [{}, {"k": 1}, [{"k": 1}], [1, [2, {}]]], ids=repr)
    def test_an_object_is_refused_wherever_it_hides(self, value: object) -> None:
        why = "/a: an object cannot become an argument"
        assert rendered("{{a}}", {"a": value}) == why
        assert rendered("--a={{a}}", {"a": value}) == why
        assert rendered("{{b}}:{{a}}", {"a": value, "b": "x"}) == why

    def test_the_longest_integer_keeps_its_digits(self) -> None:
        assert rendered("{{a}}", {"a": 10**4299}, json_flag=()) == ["1" + "0" * 4299]


class TestRule4AMissingValueDropsOut:
    @pytest.mark.parametrize(
        ("cli", "args", "argv"),
        [
            ("--to {{to}} --memo {{memo}} end", {"to": "x"}, ["--to", "x", "end"]),
            ("--to {{to}} --memo {{memo}} end", {"to": "x", "memo": None}, ["--to", "x", "end"]),
            ("--to {{to}} --memo {{memo}} end", {}, ["end"]),
            ("-m {{memo}} end", {}, ["end"]),
            ("--to={{to}} --memo={{memo}}", {"to": "x"}, ["--to=x"]),
            ("word {{a}} end", {}, ["word", "end"]),
            ("--mode=x {{a}} end", {}, ["--mode=x", "end"]),
            ("- {{a}}", {}, ["-"]),
            ("-- {{a}}", {}, ["--"]),
            ("--quiet --memo {{memo}}", {}, ["--quiet"]),
            ("--memo --quiet {{memo}}", {}, ["--memo"]),
            ("-5 {{a}}", {}, []),
            ("--x{{b}} {{a}}", {"b": 1}, ["--x1"]),
        ],
    )
    def test_with_the_flag_in_front_of_it(self, cli: str, args: dict[str, object], argv: list[str]) -> None:
        assert rendered(cli, args, json_flag=()) == argv

    @pytest.mark.parametrize(
        ("cli", "args", "argv"),
        [
            ("{{a}}:{{b}}", {"a": "x"}, ["x:"]),
            ("{{a}}:{{b}}", {"b": "x"}, [":x"]),
            ("{{a}}:{{b}}", {}, []),
            ("{{a}}:{{b}}", {"a": ""}, [":"]),
            ("--range {{a}}:{{b}} end", {}, ["end"]),
            ("--range {{a}}:{{b}} end", {"b": 2}, ["--range", ":2", "end"]),
            ("-- --range {{a}}:{{b}} end", {}, ["--", "end"]),
        ],
    )
    def test_a_mixed_token_only_when_all_its_values_are_missing(
        self, cli: str, args: dict[str, object], argv: list[str]
    ) -> None:
        assert rendered(cli, args, json_flag=()) == argv

    def test_an_empty_text_given_on_purpose_is_a_value(self) -> None:
        assert rendered("--to {{to}} {{b}}", {"to": "", "b": ""}) == ["--to", "", "", "--json"]
        assert rendered("--to={{to}}", {"to": ""}) == ["--to=", "--json"]
        assert rendered("{{a}}", {"a": []}) == ["", "--json"]

    def test_false_and_zero_are_values(self) -> None:
        assert rendered("{{a}} {{b}}", {"a": False, "b": 0}) == ["false", "0", "--json"]


class TestRule5OtherLiteralTokensStay:
    def test_whatever_is_missing_around_them(self) -> None:
        cli = "transfer {{amount}} --to {{payee}} --memo {{memo}} --confirm"
        args: dict[str, object] = {"amount": "2.80", "payee": "demo-transit", "confirm": True}
        assert rendered(cli, args) == ["transfer", "2.80", "--to", "demo-transit", "--confirm", "--json"]
        assert rendered(cli, {}) == ["transfer", "--confirm", "--json"]

    def test_empty_and_odd_ones_too(self) -> None:
        tokens = ["", " ", "a b", "-", "--x=1", "$(id)", "é\n"]
        assert rendered(tokens, {}) == [*tokens, "--json"]


class TestRule6NothingSlides:
    @pytest.mark.parametrize(
        ("cli", "args", "why"),
        [
            ("{{from}} {{to}}", {"to": "y"}, "/from: missing, and /to would take its place"),
            ("{{from}} {{to}}", {"to": ""}, "/from: missing, and /to would take its place"),
            ("{{from}} word {{to}}", {"to": "y"}, "/from: missing, and /to would take its place"),
            ("{{a}} {{b}} {{c}} {{d}}", {"d": 1}, "/a: missing, and /d would take its place"),
            ("{{a}} {{b}} {{c}} {{d}}", {"a": 1, "d": 1}, "/b: missing, and /d would take its place"),
            ("{{a}} {{b}}:{{c}}", {"c": 1}, "/a: missing, and /c would take its place"),
            ("{{a}} k={{b}}", {"b": 1}, "/a: missing, and /b would take its place"),
            ("{{a}} --r {{b}}:{{c}}", {"b": 1}, "/a: missing, and /b would take its place"),
            ("-- {{a}} {{b}}", {"b": "--x"}, "/a: missing, and /b would take its place"),
            ("-- --x {{a}} {{b}}", {"b": 1}, "/a: missing, and /b would take its place"),
            ("{{a}} -- --x {{b}}", {"b": 1}, "/a: missing, and /b would take its place"),
            ("--x=1 {{a}} - {{b}}", {"b": 1}, "/a: missing, and /b would take its place"),
            ("{{a}} {{b}}", {"b": {"an": "object"}}, "/a: missing, and /b would take its place"),
            ("{{a}} {{b}}", {"b": "-x"}, "/a: missing, and /b would take its place"),
        ],
    )
    def test_a_missing_positional_never_lets_a_later_one_into_its_place(
        self, cli: str, args: dict[str, object], why: str
    ) -> None:
        assert rendered(cli, args) == why

    @pytest.mark.parametrize(
        ("cli", "args", "argv"),
        [
            ("{{a}} {{b}}", {"a": "x"}, ["x"]),
            ("{{a}} {{b}}", {}, []),
            ("{{a}} --to {{to}}", {"to": 1}, ["--to", "1"]),
            ("{{a}} --to={{to}}", {"to": 1}, ["--to=1"]),
            ("-- {{a}} --to={{to}}", {"to": 1}, ["--", "--to=1"]),
            ("--to {{to}} --memo {{memo}} end", {"memo": "m"}, ["--memo", "m", "end"]),
            ("--to {{to}} {{b}}", {"b": 1}, ["1"]),
            ("if={{i}} of={{o}}", {"o": 1}, ["of=1"]),
            ("{{a}} end", {}, ["end"]),
        ],
    )
    def test_what_takes_no_place_may_be_missing(self, cli: str, args: dict[str, object], argv: list[str]) -> None:
        assert rendered(cli, args, json_flag=()) == argv

    def test_a_name_is_a_pointer_in_the_message(self) -> None:
        assert rendered("{{a}} {{b}}", {"b": 1}) == "/a: missing, and /b would take its place"


class TestRule7WithoutCliTheTemplateOfThePackRenders:
    def test_with_the_tail_of_the_verb_key(self) -> None:
        assert by_template("argv {{verb}} {{amount}} --note=ok", "setup.apply", {"amount": 3}) == [
            "argv",
            "apply",
            "3",
            "--note=ok",
            "--json",
        ]
        assert by_template("argv {{verb}} {{amount}} --note=ok", "setup.apply", {}) == [
            "argv",
            "apply",
            "--note=ok",
            "--json",
        ]

    def test_with_the_whole_verb_key_where_it_has_one_segment(self) -> None:
        assert by_template("{{verb}}", "apply", {}) == ["apply", "--json"]

    def test_no_arg_sets_the_verb(self) -> None:
        assert by_template("x-{{verb}}", "a.b", {"verb": "drop"}) == ["x-b", "--json"]
        assert by_template("{{verb}}", "a.b", {"verb": None}) == ["b", "--json"]

    def test_its_first_token_is_not_dropped(self) -> None:
        assert by_template("first second", "a", {}) == ["first", "second", "--json"]

    def test_the_verb_does_not_slide_either(self) -> None:
        assert by_template("{{a}} {{verb}}", "x.go", {}) == "/a: missing, and /verb would take its place"

    def test_inside_cli_verb_is_an_ordinary_arg(self) -> None:
        assert rendered("{{verb}}", {"verb": "mine"}) == ["mine", "--json"]
        assert rendered("{{verb}}", {}) == ["--json"]


class TestRule8TheJsonFlag:
    @pytest.mark.parametrize(
        ("cli", "flag", "argv"),
        [
            ("x", JSON, ["x", "--json"]),
            ("x", (), ["x"]),
            ("x", ("--output", "json"), ["x", "--output", "json"]),
            ("--json x", JSON, ["--json", "x"]),
            ("x --output json y", ("--output", "json"), ["x", "--output", "json", "y"]),
            ("--output text json", ("--output", "json"), ["--output", "text", "json", "--output", "json"]),
            ("json --output", ("--output", "json"), ["json", "--output", "--output", "json"]),
            ("x -- y", JSON, ["x", "--json", "--", "y"]),
            ("x -- y -- z", JSON, ["x", "--json", "--", "y", "--", "z"]),
            ("x -- --json", JSON, ["x", "--json", "--", "--json"]),
            ("-- x", ("-o", "json"), ["-o", "json", "--", "x"]),
            ("--json -- x", JSON, ["--json", "--", "x"]),
            ("--json=1", JSON, ["--json=1", "--json"]),
        ],
    )
    def test_is_there_once_in_front_of_the_first_literal_mark(
        self, cli: str, flag: tuple[str, ...], argv: list[str]
    ) -> None:
        assert rendered(cli, {}, json_flag=flag) == argv

    def test_a_value_never_counts_as_the_flag_or_as_the_mark(self) -> None:
        allowed = {"a": DASH}
        assert rendered("{{a}}", {"a": "--json"}, allowed) == ["--json", "--json"]
        assert rendered("{{a}} x", {"a": "--"}, allowed) == ["--", "x", "--json"]

    def test_is_no_flag_that_a_missing_value_takes_along(self) -> None:
        assert rendered("{{a}}", {}) == ["--json"]
        assert rendered("x -- {{a}}", {}) == ["x", "--json", "--"]

    def test_is_not_filled_in(self) -> None:
        assert rendered("x", {"a": "1"}, json_flag=("--f={{a}}",)) == ["x", "--f={{a}}"]


class TestRule9AValueNeverTurnsIntoAnOption:
    @pytest.mark.parametrize("value", ["-", "--", "-x", "--all", "-rf /", "-5x", "-1.2.3", "-e5", "-.", "-\n", "-５"])
    def test_a_text_that_begins_with_a_dash_is_refused(self, value: str) -> None:
        for cli in ("{{a}}", "--to {{a}}", "{{a}}:{{b}}", "{{b}}{{a}}"):
            assert rendered(cli, {"a": value}) == '/a: begins with "-"'

    @pytest.mark.parametrize("value", [["-x"], [-5], ["-5", 1], [["-x"]]], ids=repr)
    def test_so_is_a_list_that_does(self, value: object) -> None:
        assert rendered("{{a}}", {"a": value}) == '/a: begins with "-"'

    @pytest.mark.parametrize(
        ("value", "text"),
        [(-5, "-5"), (-2.5, "-2.5"), (-1e-7, "-1e-7"), (-1e21, "-1e+21"), (-(10**30), "-1" + "0" * 30)],
        ids=repr,
    )
    def test_a_json_number_is_fine(self, value: float, text: str) -> None:
        assert rendered("{{a}}", {"a": value}, json_flag=()) == [text]
        assert rendered("{{a}}:{{b}}", {"a": value}, json_flag=()) == [f"{text}:"]
        assert rendered("{{a}}", {"a": value}, {"a": TEXT_ONLY}, ()) == [text]

    @pytest.mark.parametrize("value", ["-5", "-2.5", "-.5", "-1e-7", "-1E+21", "-0", "-007"])
    def test_a_plain_decimal_text_is_fine_unless_the_schema_says_texts_only(self, value: str) -> None:
        assert rendered("{{a}}", {"a": value}, json_flag=()) == [value]
        assert rendered("{{a}}", {"a": value}, {"a": TEXT_ONLY}) == '/a: begins with "-"'
        assert rendered("{{a}}", {"a": value}, {"a": TEXT_ONLY, "b": DASH}) == '/a: begins with "-"'

    def test_behind_a_literal_mark_any_value_is_fine(self) -> None:
        assert rendered("-- {{a}} {{b}}{{c}}", {"a": "-rf", "b": "--x", "c": "-"}, json_flag=()) == [
            "--",
            "-rf",
            "--x-",
        ]
        assert rendered("{{b}} -- {{a}}", {"a": "-x", "b": "-y"}) == '/b: begins with "-"'

    def test_a_mark_that_is_a_value_opens_nothing(self) -> None:
        assert rendered("{{m}} {{a}}", {"m": "--", "a": "-x"}, {"m": DASH}) == '/a: begins with "-"'

    def test_an_arg_may_allow_a_dash(self) -> None:
        assert rendered("{{a}}", {"a": "-name x"}, {"a": DASH}, ()) == ["-name x"]
        assert rendered("{{a}}", {"a": ["-x"]}, {"a": DASH}, ()) == ["-x"]
        assert rendered("{{a}}", {"a": "-1"}, {"a": Trait(string_only=True, allow_dash=True)}, ()) == ["-1"]
        assert rendered("{{b}}{{a}}", {"a": "-x", "b": ""}, {"b": DASH}) == '/a: begins with "-"'

    @pytest.mark.parametrize(
        ("cli", "args", "argv"),
        [
            ("--to={{a}}", {"a": "--rm"}, ["--to=--rm"]),
            ("-o{{a}}", {"a": "-x"}, ["-o-x"]),
            ("k={{a}}", {"a": "-x"}, ["k=-x"]),
            ("{{b}}{{a}}", {"a": "-x", "b": "1"}, ["1-x"]),
        ],
    )
    def test_inside_a_token_any_value_is_fine(self, cli: str, args: dict[str, object], argv: list[str]) -> None:
        assert rendered(cli, args, json_flag=()) == argv

    def test_a_missing_value_uncovers_no_dash_of_the_template(self) -> None:
        why = 'and the argument would begin with "-"'
        assert rendered("{{a}}-{{b}}", {"a": "x", "b": "y"}, json_flag=()) == ["x-y"]
        assert rendered("{{a}}-{{b}}", {"b": "rf"}) == f"/a: missing, {why}"
        assert rendered("{{a}}-{{b}}", {"a": "", "b": "rf"}) == f"/a: empty, {why}"
        assert rendered("{{a}}{{c}}-{{b}}", {"c": [], "b": "rf"}) == f"/a: missing, {why}"
        assert rendered("-- {{a}}-{{b}}", {"b": "rf"}, json_flag=()) == ["--", "-rf"]


class TestRule10AValueGoesThroughUntouched:
    @pytest.mark.parametrize(
        "value",
        [
            "a  b \"c\" 'd' $(id); echo x | y > z * ~ ${HOME}\n\t",
            "line\nline",
            "\\",
            "Zoë 🚲 日本",
            "\x01\x1b[2K\u202e\u2028",
            " ",
            "%s %d {} {0}",
            "x" * 100_000,
        ],
        ids=lambda value: ascii(value[:20]),
    )
    def test_whatever_it_holds(self, value: str) -> None:
        assert rendered("{{a}} --b={{a}}", {"a": value}, json_flag=()) == [value, f"--b={value}"]

    @pytest.mark.parametrize("cli", ["{{a}}", "--x={{a}}", "-- {{a}}", "{{b}}{{a}}"])
    def test_unless_it_holds_nul(self, cli: str) -> None:
        assert rendered(cli, {"a": "x\0--all", "b": "y"}) == "/a: holds NUL"
        assert rendered(cli, {"a": ["x", "\0"], "b": "y"}) == "/a: holds NUL"

    def test_or_no_text_that_a_program_could_get(self) -> None:
        assert rendered("{{a}}", {"a": "\ud800"}) == "/a: holds a lone surrogate"
        assert rendered("--x={{a}}", {"a": ["é", "\udfff"]}) == "/a: holds a lone surrogate"

    def test_args_that_no_placeholder_names_are_not_looked_at(self) -> None:
        assert rendered("x", {"a": {"an": "object"}, "b": "\0", "c": "-x"}) == ["x", "--json"]

"""Args held against schemas: what fits, and the one sentence on what does not (Spec 01 section 3)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.rendering import arguments
from hcpx.rendering.arguments import ArgsSchema, args_schema, meets, problem
from hcpx.vocabulary.json_text import MAX_DIGITS

LONGEST = 10**MAX_DIGITS - 1
TRANSFER: dict[str, object] = {
    "type": "object",
    "properties": {
        "amount": {"type": ["string", "number"]},
        "payee": {"type": "string", "minLength": 2, "maxLength": 8},
        "memo": {"type": "string"},
        "token": {"type": "string", "x-secret": True},
    },
    "required": ["amount", "payee"],
    "additionalProperties": False,
}


def why(schema: object, args: dict[str, object], secret: frozenset[str] = frozenset()) -> str | None:
    """Return what stands against the args, the fixed words in front left out."""
    denial = problem(json.dumps(schema), args, secret)
    if denial is None:
        assert meets(json.dumps(schema), args)
        return None
    assert not meets(json.dumps(schema), args)
    assert (denial.code, denial.step, denial.hint) == ("invalid_args", 4, None)
    return denial.error.removeprefix("invalid args: ")


def why_not(value: object, **keywords: object) -> str | None:
    """Return what stands against one value of the arg `a`."""
    return why({"properties": {"a": keywords}, "$defs": {"t": {"type": "string"}}}, {"a": value})


@pytest.fixture
def few_schemas(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(arguments, "_MOST_SCHEMAS", 2)
    arguments._schemas.clear()
    yield
    arguments._schemas.clear()


class TestWhichErrorIsTold:
    @pytest.mark.parametrize(
        ("args", "told"),
        [
            ({"amount": 1, "payee": "demo"}, None),
            ({}, "/amount: missing"),
            ({"amount": 1}, "/payee: missing"),
            ({"payee": 5}, "/amount: missing"),
            ({"amount": 1, "payee": 5}, "/payee: must be a string"),
            ({"amount": True, "payee": 5}, "/amount: must be a string or a number"),
            ({"amount": 1, "payee": "x"}, "/payee: must have at least 2 characters"),
            ({"amount": 1, "payee": "x", "memo": 5}, "/payee: must have at least 2 characters"),
            ({"amount": 1, "payee": "demo", "memmo": "x"}, "/memmo: unknown argument, did you mean memo?"),
            ({"amuont": 1, "payee": "demo"}, "/amuont: unknown argument, did you mean amount?"),
            ({"zzz": 1}, "/zzz: unknown argument"),
            ({"amount": 1, "payee": "demo", "a/b~c": 1}, "/a~1b~0c: unknown argument"),
            ({"amount": 1, "payee": "demo", "": 1}, "/: unknown argument"),
            ({"amount": 1, "payee": "demo", "x\u202e\n": 1}, "/x\\u{202E}\\u{000A}: unknown argument"),
        ],
        ids=ascii,
    )
    def test_the_one_that_helps_most(self, args: dict[str, object], told: str | None) -> None:
        assert why(TRANSFER, args) == told

    def test_the_same_whatever_the_order_of_the_args(self) -> None:
        bad: dict[str, object] = {"payee": 5, "memo": 6, "amount": []}
        assert (
            why(TRANSFER, bad) == why(TRANSFER, dict(reversed(bad.items()))) == "/amount: must be a string or a number"
        )

    def test_an_arg_that_is_declared_earlier_comes_first(self) -> None:
        schema = {"properties": {"z": {"maximum": 1}, "a": {"type": "string"}}}
        assert why(schema, {"a": 5, "z": 5}) == "/z: must be at most 1"

    def test_an_earlier_item_of_a_list_comes_first(self) -> None:
        assert why_not([1] * 2 + ["x"] * 20, items={"type": "integer"}) == "/a/2: must be an integer"

    def test_a_type_comes_before_what_follows_from_it(self) -> None:
        assert why_not(5, type="string", multipleOf=2) == "/a: must be a string"

    def test_of_several_unknown_ones_the_first_that_looks_like_a_known_one(self) -> None:
        given: dict[str, object] = {"amount": 1, "payee": "demo", "zz": 1, "memmo": 1, "aa": 1}
        assert why(TRANSFER, given) == "/memmo: unknown argument, did you mean memo?"
        del given["memmo"]
        assert why(TRANSFER, given) == "/aa: unknown argument"
        many: dict[str, object] = {f"x{n}": n for n in range(100)}
        assert why(TRANSFER, many) == "/x0: unknown argument"

    def test_an_unknown_one_where_none_is_declared(self) -> None:
        assert why({"type": "object", "additionalProperties": False}, {"b": 1, "a": 1}) == "/a: unknown argument"
        empty = {"type": "object", "properties": {}, "additionalProperties": False}
        assert why(empty, {"b": 1}) == "/b: unknown argument"

    def test_nested_objects_are_told_by_their_pointer(self) -> None:
        item = {"type": "object", "properties": {"name": {}, "n": {"type": "integer"}}, "required": ["name"]}
        assert why_not([{"name": 1}, {}], items=item) == "/a/1/name: missing"
        closed = {**item, "additionalProperties": False}
        assert why_not([{"name": 1, "nmae": 2}], items=closed) == "/a/0/nmae: unknown argument, did you mean name?"
        assert why_not([{"name": 1, "n": "x"}], items=closed) == "/a/0/n: must be an integer"

    def test_a_long_name_leaves_room_for_what_is_wrong(self) -> None:
        told = why(TRANSFER, {"amount": 1, "payee": "demo", "x" * 900_000: 1})
        assert told == "/" + "x" * 1023 + ": unknown argument"


class TestTheWords:
    @pytest.mark.parametrize(
        ("value", "keywords", "told"),
        [
            (5, {"type": "string"}, "must be a string"),
            ("x", {"type": ["integer", "boolean", "array"]}, "must be an integer, true or false or a list"),
            ("x", {"type": ["object", "number"]}, "must be a number or an object"),
            ("x", {"enum": ["a", "b", 1]}, 'must be one of "a", "b" or 1'),
            ("x", {"enum": ["a"]}, 'must be "a"'),
            ("x", {"enum": []}, None),
            ("x", {"enum": list(range(9))}, "must be one of the allowed values"),
            ("x", {"enum": [{"an": "object"}, 1]}, "must be one of the allowed values"),
            ("x", {"enum": ["y" * 100]}, "must be one of the allowed values"),
            ("x", {"const": "y"}, 'must be "y"'),
            ("x", {"const": [1]}, "must be one of the allowed values"),
            (5, {"maximum": 4}, "must be at most 4"),
            (5, {"maximum": 0.1}, "must be at most 0.1"),
            (5, {"exclusiveMaximum": 5.0}, "must be less than 5"),
            (5, {"minimum": 1e21}, "must be at least 1e+21"),
            (5, {"exclusiveMinimum": 9007199254740993}, "must be more than 9007199254740993"),
            (0.15, {"multipleOf": 0.1}, "must be a multiple of 0.1"),
            ("", {"minLength": 1}, "must have at least 1 character"),
            ("xxx", {"maxLength": 2}, "must have at most 2 characters"),
            ([], {"minItems": 1}, "must have at least 1 item"),
            ([1, 2, 3], {"maxItems": 2}, "must have at most 2 items"),
            ({}, {"minProperties": 1}, "must have at least 1 key"),
            ({"a": 1}, {"maxProperties": 0}, "must have at most 0 keys"),
            ("A", {"pattern": "^[a-z]+$"}, "must match ^[a-z]+$"),
            ("x", {"format": "date"}, "must be in the format date"),
            ([1, 1.0], {"uniqueItems": True}, "must not hold an item twice"),
            ([1], {"contains": {"const": 2}}, "holds too few or too many of the items asked for"),
            ([1, 2], {"prefixItems": [{}], "unevaluatedItems": False}, "has more items than allowed"),
            ([1], {"items": False}, None),
            (1, {"not": {"const": 1}}, "is not allowed"),
            (
                "x",
                {"oneOf": [{"type": "string"}, {"minLength": 1}]},
                "fits more than one of the allowed forms",
            ),
            ("a" * 30 + "b", {"pattern": r"^(?=((a|aa)+)\1$)"}, "takes too long to match its pattern"),
            (5, {"$ref": "#/$defs/t"}, "must be a string"),
            ({"Ab": 1}, {"propertyNames": {"pattern": "^[a-z]+$"}}, None),
        ],
        ids=lambda value: ascii(value)[:40],
    )
    def test_say_what_is_asked_for(self, value: object, keywords: dict[str, object], told: str | None) -> None:
        answer = why_not(value, **keywords)
        if told is not None:
            assert answer == f"/a: {told}"

    def test_a_forbidden_item_and_a_forbidden_arg_are_named(self) -> None:
        assert why_not([1, 2], prefixItems=[{}], items=False) == "/a/1: is not allowed"
        assert why({"properties": {"a": False}}, {"a": 1}) == "/a: is not allowed"

    def test_an_arg_may_bear_the_name_of_a_keyword(self) -> None:
        for value in (1, {}, {"x": 1}):
            schema = {"properties": {"additionalProperties": False}}
            told = why(schema, {"additionalProperties": value})
            assert told is not None
            assert told.startswith("/additionalProperties")

    def test_a_name_that_does_not_fit_is_named(self) -> None:
        assert why({"propertyNames": {"pattern": "^[a-z]+$"}}, {"Ab": 1}) == "/Ab: its name must match ^[a-z]+$"

    def test_what_is_wrong_with_the_args_as_a_whole_has_the_empty_pointer(self) -> None:
        assert why({"minProperties": 2}, {"a": 1}) == ": must have at least 2 keys"
        assert why(False, {}) == ": is not allowed"

    def test_an_arg_that_another_one_asks_for_is_missing(self) -> None:
        assert why({"dependentRequired": {"a": ["b"]}}, {"a": 1}) == "/b: missing"
        assert why({"if": {"required": ["a"]}, "then": {"required": ["c"]}}, {"a": 1}) == "/c: missing"

    def test_what_no_part_of_the_schema_speaks_of_is_unknown(self) -> None:
        schema = {"unevaluatedProperties": False, "allOf": [{"properties": {"memo": {}}}]}
        assert why(schema, {"memmo": 1}) == "/memmo: unknown argument, did you mean memo?"


class TestSeveralForms:
    def test_types_are_told_together(self) -> None:
        forms = [{"type": "string"}, {"type": "integer"}, {"const": None}]
        assert why_not([], anyOf=forms) == "/a: must be a string, an integer or null"
        assert why_not([], oneOf=forms[:2]) == "/a: must be a string or an integer"

    def test_args_of_which_one_is_needed_are_told_together(self) -> None:
        assert (
            why({"anyOf": [{"required": ["id"]}, {"required": ["name"]}]}, {}) == "/id: missing, or give /name instead"
        )
        one_of_three = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}]}
        assert why(one_of_three, {}) == "/a: missing, or give /b or /c instead"
        assert why({"anyOf": [{"required": ["a"]}, {"required": ["a"]}]}, {}) == "/a: missing"

    def test_the_form_of_the_right_type_is_explained(self) -> None:
        forms = [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "required": ["n"],
                "additionalProperties": False,
            },
        ]
        assert why_not({}, anyOf=forms) == "/a/n: missing"
        assert why_not({"n": "x"}, anyOf=forms) == "/a/n: must be an integer"

    def test_the_form_with_the_right_tag_is_explained(self) -> None:
        forms = [
            {"properties": {"kind": {"const": "card"}, "number": {"type": "string"}}, "required": ["number"]},
            {
                "properties": {"kind": {"const": "bank"}, "iban": {"type": "string"}},
                "required": ["iban", "bic"],
            },
        ]
        assert why_not({"kind": "bank", "bic": "X"}, oneOf=forms) == "/a/iban: missing"
        assert why_not({"kind": "card"}, oneOf=forms) == "/a/number: missing"

    def test_the_form_with_the_fewest_errors_is_explained(self) -> None:
        forms = [{"minimum": 10, "multipleOf": 7}, {"maximum": 4}]
        assert why_not(5, anyOf=forms) == "/a: must be at most 4"


class TestNothingIsRepeated:
    SECRET = frozenset({"token"})

    @pytest.mark.parametrize(
        "keywords",
        [
            *({"type": "integer"}, {"enum": ["a"]}, {"const": "a"}, {"maxLength": 2}, {"pattern": "^a$"}),
            *({"format": "date"}, {"not": {}}, {"anyOf": [{"const": 1}, {"maxLength": 2}]}),
            {"oneOf": [{"type": "string"}, {}]},
        ],
        ids=str,
    )
    def test_no_message_holds_a_value(self, keywords: dict[str, object]) -> None:
        for secret in (frozenset[str](), frozenset({"a"})):
            told = why({"properties": {"a": keywords}}, {"a": "hunter2-value"}, secret)
            assert told is not None
            assert "hunter2" not in told

    @pytest.mark.parametrize(
        ("schema", "value", "told"),
        [
            ({"type": "string"}, 5, "/token: must be a string"),
            ({"enum": ["a", "b"]}, "c", "/token: does not fit its schema"),
            ({"pattern": "^s"}, "c", "/token: does not fit its schema"),
            ({"additionalProperties": False}, {"hunter2": 1}, "/token: does not fit its schema"),
            ({"propertyNames": {"maxLength": 2}}, {"hunter2": 1}, "/token: does not fit its schema"),
            ({"additionalProperties": {"type": "string"}}, {"hunter2": 1}, "/token: does not fit its schema"),
            ({"properties": {"x": {"required": ["y"]}}}, {"x": {}}, "/token: does not fit its schema"),
        ],
        ids=str,
    )
    def test_of_a_secret_arg_only_its_type_is_told(self, schema: object, value: object, told: str) -> None:
        assert why({"properties": {"token": schema}}, {"token": value}, self.SECRET) == told

    def test_a_secret_arg_may_be_missing(self) -> None:
        assert why({"required": ["token"]}, {}, self.SECRET) == "/token: missing"


class TestWhatASchemaIsAskedAbout:
    def test_null_for_a_declared_arg_counts_as_absent(self) -> None:
        good: dict[str, object] = {"amount": 1, "payee": "demo"}
        assert why(TRANSFER, {**good, "memo": None}) is None
        assert why(TRANSFER, {**good, "payee": None}) == "/payee: missing"
        assert why(TRANSFER, {**good, "zzz": None}) == "/zzz: unknown argument"
        nullable = {"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}
        assert why(nullable, {"a": None}) == "/a: missing"

    def test_null_inside_an_arg_stays(self) -> None:
        assert why_not({"x": None}, properties={"x": {"type": "string"}}) == "/a/x: must be a string"
        assert why_not([None], items={"type": "string"}) == "/a/0: must be a string"

    def test_control_args_are_left_out_unless_the_schema_names_them(self) -> None:
        control: dict[str, object] = {"confirm": "yes", "apply": 1, "mode": "mock"}
        assert why(TRANSFER, {"amount": 1, "payee": "demo", **control}) is None
        assert why({"additionalProperties": False, "maxProperties": 0}, control) is None
        assert why({"properties": {"confirm": {"type": "boolean"}}}, control) == "/confirm: must be true or false"
        assert why({"properties": {"mode": {"const": "mock"}}, "required": ["mode"]}, {}) == "/mode: missing"
        assert why({"not": {"required": ["mode"]}}, {"mode": "mock"}) == ": is not allowed"
        assert why({"not": {"required": ["mode"]}}, {"confirm": True}) is None


class TestNumbers:
    @pytest.mark.parametrize(
        ("keywords", "value", "fits"),
        [
            ({"type": "integer"}, LONGEST, True),
            ({"type": "number"}, -LONGEST, True),
            ({"type": "string"}, LONGEST, False),
            ({"maximum": 100}, LONGEST, False),
            ({"minimum": -100}, -LONGEST, False),
            ({"maximum": 1.5}, LONGEST, False),
            ({"maximum": 1e308}, LONGEST, False),
            ({"maximum": LONGEST}, LONGEST, True),
            ({"maximum": LONGEST - 1}, LONGEST, False),
            ({"maximum": 9007199254740992}, 9007199254740993, False),
            ({"minimum": 9007199254740993}, 9007199254740992, False),
            ({"exclusiveMaximum": 9007199254740993}, 9007199254740992, True),
            ({"const": 9007199254740993}, 9007199254740992, False),
            ({"enum": [2**64 + 1]}, 2**64, False),
            ({"enum": [2**64 + 1]}, 2**64 + 1, True),
            ({"const": 7}, 7.0, True),
            ({"type": "integer"}, 7.0, True),
            ({"type": "integer"}, 7.5, False),
            ({"type": "integer"}, True, False),
            ({"const": 1}, True, False),
            ({"const": False}, 0, False),
            ({"multipleOf": 2}, 2**70 + 1, False),
            ({"multipleOf": 2}, 2**70, True),
            ({"multipleOf": 7}, LONGEST + 1 - 10, False),
            ({"multipleOf": 0.01}, 19.99, True),
            ({"multipleOf": 0.01}, 19.999, False),
            ({"multipleOf": 0.3}, 10**4000, False),
            ({"uniqueItems": True}, [2**64, 2**64 + 1], True),
            ({"uniqueItems": True}, [LONGEST, LONGEST], False),
        ],
        ids=lambda value: repr(value)[:40],
    )
    def test_are_judged_exactly_whatever_their_size(
        self, keywords: dict[str, object], value: object, fits: bool
    ) -> None:
        assert (why_not(value, **keywords) is None) is fits

    def test_a_huge_one_is_not_repeated(self) -> None:
        assert why_not(LONGEST, maximum=1) == "/a: must be at most 1"

    @given(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
    def test_bounds_hold_between_any_two_integers(self, bound: int, value: int) -> None:
        assert meets(json.dumps({"properties": {"a": {"maximum": bound}}}), {"a": value}) is (value <= bound)
        assert meets(json.dumps({"properties": {"a": {"const": bound}}}), {"a": value}) is (value == bound)


class TestPatternsAndFormats:
    def test_a_pattern_is_ecma_262(self) -> None:
        assert why_not("abc", pattern="^[a-z]+$") is None
        assert why_not("abc\n", pattern="^[a-z]+$") == "/a: must match ^[a-z]+$"
        assert why_not("١", pattern=r"^\d$") is not None
        assert why_not("é", pattern=r"^\w$") is not None
        assert why_not("x-y", pattern=r"^(?!-)[\w-]+$") is None

    def test_a_pattern_that_never_ends_accepts_nothing_turned_round_or_not(self) -> None:
        endless, text = {"pattern": r"^(?=((a|aa)+)\1$)"}, "a" * 40 + "b"
        assert why_not(text, **endless) is not None
        assert why_not(text, **{"not": endless}) is not None
        assert why_not(text, **{"if": endless, "then": False}) is not None

    def test_a_known_format_is_asserted_and_an_unknown_one_is_a_note(self) -> None:
        assert why_not("2030-02-30", format="date") == "/a: must be in the format date"
        assert why_not("2030-02-28", format="date") is None
        assert why_not("x", format="password") is None


class TestSchemasThatCannotBeUsed:
    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "not JSON: Expecting value, line 1 column 1"),
            ("{", "not JSON: Expecting property name enclosed in double quotes, line 1 column 2"),
            ('{"maximum": 1, "maximum": 2}', "duplicate key at maximum"),
            ('{"maximum": 1e400}', "a number is beyond the range of a double"),
            ('{"properties": {"a": {"type": "strin"}}}', "/properties/a/type: "),
            ('{"properties": {"a": {"pattern": "("}}}', "/properties/a/pattern: "),
            ('{"required": "a"}', "/required: "),
            ("5", ": 5 is not of types"),
            ("null", ": null is not of types"),
            ('{"$ref": "http://example.com/x"}', "/$ref: a reference may only point inside the document"),
            ('{"$ref": "file:///etc/passwd"}', "/$ref: a reference may only point inside the document"),
            (
                '{"allOf": [{"items": {"$dynamicRef": "x.json#a"}}]}',
                "/allOf/0/items/$dynamicRef: a reference may only point inside the document",
            ),
            (
                '{"$schema": "http://json-schema.org/draft-07/schema#"}',
                "/$schema: only JSON Schema draft 2020-12 is read",
            ),
            ('{"$ref": "#/nowhere"}', ": Pointer '/nowhere' does not exist"),
            ('{"$ref": "#nowhere"}', ": Anchor 'nowhere' does not exist"),
            ('{"$ref": "#%zz"}', ": Invalid URI reference"),
            ('{"items":' * 127 + "{}" + "}" * 127, "nested too deep at items.items."),
        ],
        ids=lambda value: value[:40],
    )
    def test_accept_nothing_and_say_why(self, text: str, fault: str) -> None:
        schema = ArgsSchema(text)
        assert not schema.accepts({})
        told = schema.fault()
        assert told is not None
        assert told.startswith(fault)
        denial = problem(text, {})
        assert denial is not None
        assert denial.error.startswith("invalid args: : the schema of the args cannot be used: ")

    @pytest.mark.parametrize(
        "text",
        [
            "true",
            "{}",
            json.dumps(TRANSFER),
            '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
            '{"properties": {"$ref": {"type": "string"}}}',
            '{"items":' * 126 + "{}" + "}" * 126,
            '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}',
            '{"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x"}',
        ],
        ids=lambda value: value[:40],
    )
    def test_others_have_no_fault(self, text: str) -> None:
        assert ArgsSchema(text).fault() is None

    def test_a_schema_of_true_takes_anything_and_one_of_false_nothing(self) -> None:
        assert meets("true", {"x": 1})
        assert not meets("false", {})

    def test_a_value_that_never_was_checked_fits_nothing(self) -> None:
        text = json.dumps({"properties": {"a": {"type": "string", "minLength": 9}}})
        assert not meets(text, {"a": {1}})
        denial = problem(text, {"a": {1}})
        assert denial is not None
        assert denial.error == "invalid args: : cannot be held against the schema of the args"


class TestWhatIsExcused:
    SCHEMA = ArgsSchema(
        json.dumps(
            {
                "properties": {"mode": {"enum": ["fast", "slow"]}, "n": {"type": "integer"}},
                "required": ["mode"],
            }
        )
    )

    def test_what_is_wrong_with_one_arg_may_be_left_out_of_account(self) -> None:
        assert self.SCHEMA.refusal({"mode": "mock"}, excused="mode") is None
        denial = self.SCHEMA.refusal({"mode": "mock"})
        assert denial is not None
        assert denial.error == 'invalid args: /mode: must be one of "fast" or "slow"'

    def test_and_nothing_else(self) -> None:
        denial = self.SCHEMA.refusal({"mode": "mock", "n": "x"}, excused="mode")
        assert denial is not None
        assert denial.error == "invalid args: /n: must be an integer"
        whole = ArgsSchema('{"properties": {"mode": {}}, "maxProperties": 1, "required": ["a"]}')
        denial = whole.refusal({"mode": "mock"}, excused="mode")
        assert denial is not None
        assert denial.error == "invalid args: /a: missing"

    def test_but_not_where_the_args_are_too_many_to_look_at_all_that_is_wrong(self) -> None:
        denial = self.SCHEMA.refusal({"mode": "mock", "list": [1] * 3000}, excused="mode")
        assert denial is not None
        assert denial.error == "invalid args: : does not fit the schema of the args"


@pytest.mark.usefixtures("few_schemas")
def test_a_schema_is_read_once_and_only_so_many_are_kept() -> None:
    first = args_schema("{}")
    assert args_schema("{}") is first
    assert args_schema("true") is args_schema("true")
    assert len(arguments._schemas) == 2
    args_schema("false")
    assert list(arguments._schemas) == ["false"]
    assert args_schema("{}") is not first


class TestManyValues:
    ITEMS = json.dumps({"properties": {"a": {"items": {"anyOf": [{"type": "integer"}, {"type": "object"}]}}}})

    @pytest.mark.parametrize("count", [1, 1000, 250_000])
    def test_the_first_wrong_one_is_told_without_collecting_the_others(self, count: int) -> None:
        denial = problem(self.ITEMS, {"a": [1, *["x"] * count]})
        assert denial is not None
        assert denial.error == "invalid args: /a/1: must be an integer or an object"

    def test_however_they_are_nested(self) -> None:
        deep: dict[str, object] = {"a": [{"b": [[1] * 900, [2] * 900]}, *["x"] * 900]}
        denial = problem(self.ITEMS, deep)
        assert denial is not None
        assert denial.error == "invalid args: /a/1: must be an integer or an object"

    def test_args_that_fit_have_no_first_error(self) -> None:
        schema = ArgsSchema(self.ITEMS)
        assert schema.fault() is None
        assert schema._engine is not None
        assert arguments._first_error(schema._engine, {"a": [1]}) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab/~é"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~é"), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = (
    "type",
    "enum",
    "const",
    "minimum",
    "maxLength",
    "pattern",
    "items",
    "anyOf",
    "oneOf",
    "not",
    "required",
)
subschemas = st.recursive(
    st.booleans() | st.dictionaries(st.sampled_from(KEYWORDS), json_values, max_size=2),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b", "a/b"]), inner),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "not": inner,
            "items": inner,
            "additionalProperties": inner,
            "propertyNames": inner,
            "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
            "$ref": st.sampled_from(["#", "#/properties/a", "#/nowhere", "x"]),
            "type": st.sampled_from(["object", "string", "integer"]),
        },
    ),
    max_leaves=6,
)


@given(subschemas, st.dictionaries(st.sampled_from(["a", "b", "a/b", "confirm"]), json_values))
def test_any_schema_and_any_args_give_a_verdict_and_the_same_one_twice(schema: object, args: dict[str, object]) -> None:
    text = json.dumps(schema)
    denial = problem(text, args, frozenset({"b"}))
    assert meets(text, args) is (denial is None)
    if denial is not None:
        assert denial.error.startswith("invalid args: ")
        assert problem(text, dict(reversed(args.items())), frozenset({"b"})) == denial

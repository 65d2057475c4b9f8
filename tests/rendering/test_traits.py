"""What a schema says of each arg (Spec 02 section 1, section 2 rules 9 and 11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hcpx.rendering.traits import Schema, Trait, declared, named, read_traits, text_takers

DEFS: Schema = {
    "text": {"type": "string"},
    "dash": {"x-allow-dash": True},
    "hidden": {"properties": {"inner": {"x-secret": True}}},
    "loop": {"$ref": "#/$defs/loop"},
    "a/b~c": [{"type": "number"}, {"type": "string"}],
}


def trait_of(arg: object) -> Trait:
    return read_traits({"properties": {"a": arg}, "$defs": DEFS})["a"]


@pytest.mark.parametrize(
    "arg",
    [
        {"type": "string"},
        {"type": ["string"]},
        {"type": ["null", "string"]},
        {"const": "x"},
        {"enum": ["x", "y", None]},
        {"$ref": "#/$defs/text"},
        {"$ref": "#/$defs/a~1b~0c/1"},
        {"allOf": [{"minLength": 1}, {"type": "string"}]},
        {"anyOf": [{"type": "string"}, {"const": "x"}]},
        {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/text"}]},
        False,
        {"$ref": "https://example.com/schema"},
        {"$ref": "#anchor"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/$defs/te%78t"},
    ],
    ids=str,
)
def test_a_schema_that_admits_texts_only_or_cannot_be_followed_says_string_only(arg: object) -> None:
    assert trait_of(arg).string_only


@pytest.mark.parametrize(
    "arg",
    [
        {},
        True,
        {"type": "number"},
        {"type": ["string", "number"]},
        {"const": 1},
        {"enum": ["x", 1]},
        {"enum": []},
        {"minLength": 1},
        {"anyOf": [{"type": "string"}, {"type": "number"}]},
        {"anyOf": []},
        {"$ref": "#/$defs/loop"},
        {"$ref": "#/$defs/a~1b~0c/0"},
        {"not": {"type": "string"}},
    ],
    ids=str,
)
def test_any_other_schema_does_not(arg: object) -> None:
    assert not trait_of(arg).string_only


@pytest.mark.parametrize(
    ("arg", "allowed"),
    [
        ({"x-allow-dash": True}, True),
        ({"$ref": "#/$defs/dash"}, True),
        ({"x-allow-dash": 1}, False),
        ({"x-allow-dash": "true"}, False),
        ({"x-allow-dash": False}, False),
        ({"items": {"x-allow-dash": True}}, False),
        ({"$ref": "#/$defs/loop"}, False),
        ({"$ref": "#/nowhere"}, False),
        (True, False),
    ],
    ids=str,
)
def test_only_the_args_own_schema_allows_a_dash(arg: object, allowed: bool) -> None:
    assert trait_of(arg).allow_dash is allowed


@pytest.mark.parametrize(
    ("arg", "secret"),
    [
        ({"x-secret": True}, True),
        ({"items": {"properties": {"pin": {"x-secret": True}}}}, True),
        ({"anyOf": [{}, {"x-secret": True}]}, True),
        ({"$ref": "#/$defs/hidden"}, True),
        ({"items": {"$dynamicRef": "#/$defs/hidden"}}, True),
        ({"$ref": "elsewhere"}, True),
        ({"x-secret": "yes"}, False),
        ({"properties": {"x-secret": {}}}, False),
        ({"$ref": "#/$defs/loop"}, False),
        ({"$ref": "#/$defs/text"}, False),
        (True, False),
    ],
    ids=str,
)
def test_an_arg_is_secret_where_any_part_of_it_is(arg: object, secret: bool) -> None:
    assert trait_of(arg).secret is secret


@pytest.mark.parametrize(
    "arg",
    [
        {},
        True,
        {"type": "string"},
        {"type": ["number", "string"]},
        {"const": "x"},
        {"enum": [1, "x"]},
        {"$ref": "#/$defs/text"},
        {"$ref": "#/$defs/loop"},
        {"$ref": "elsewhere"},
        {"allOf": [{"minLength": 1}]},
        {"anyOf": [{"type": "number"}, {"type": "string"}]},
        {"oneOf": []},
    ],
    ids=str,
)
def test_a_schema_that_does_not_rule_texts_out_admits_them(arg: object) -> None:
    assert text_takers({"properties": {"a": arg}, "$defs": DEFS}) == {"a": True}


@pytest.mark.parametrize(
    "arg",
    [
        False,
        {"type": "number"},
        {"type": ["integer", "null"]},
        {"const": 1},
        {"enum": [1, 2]},
        {"$ref": "#/$defs/a~1b~0c/0"},
        {"allOf": [{}, {"type": "number"}]},
        {"anyOf": [{"type": "number"}, {"const": 5}]},
        {"oneOf": [{"type": "boolean"}]},
    ],
    ids=str,
)
def test_a_schema_that_rules_texts_out_admits_none(arg: object) -> None:
    assert text_takers({"properties": {"a": arg}, "$defs": DEFS}) == {"a": False}


def test_every_declaration_of_an_arg_must_admit_a_text() -> None:
    schema: Schema = {"properties": {"a": {}, "b": {}}, "allOf": [{"properties": {"a": {"type": "number"}}}]}
    assert text_takers(schema) == {"a": False, "b": True}


def test_args_are_declared_at_the_root_and_in_what_applies_to_it() -> None:
    schema: Schema = {
        "properties": {"a": {}},
        "$ref": "#/$defs/more",
        "$defs": {"more": {"properties": {"b": {}}, "$ref": "#/$defs/more"}},
        "allOf": [{"properties": {"c": {}}}, True],
        "anyOf": [{"properties": {"d": {}}}],
        "oneOf": [{"properties": {"e": {"properties": {"inner": {}}}}}],
        "if": {"properties": {"a": {"const": 1}}},
        "then": {"properties": {"f": {}}},
        "else": {"properties": {"g": {}}},
        "dependentSchemas": {"a": {"properties": {"h": {}}}},
        "not": {"properties": {"i": {}}},
        "patternProperties": {"^x": {"properties": {"j": {}}}},
    }
    assert declared(schema) == {"a": [{}, {"const": 1}], "b": [{}], "c": [{}], "d": [{}]} | {
        "e": [{"properties": {"inner": {}}}],
        "f": [{}],
        "g": [{}],
        "h": [{}],
    }


def test_an_arg_that_is_declared_twice_gets_the_strictest_traits() -> None:
    schema: Schema = {
        "properties": {"a": {"x-allow-dash": True}, "b": {"x-allow-dash": True}},
        "allOf": [{"properties": {"a": {"type": "string", "x-secret": True}, "b": {"x-allow-dash": True}}}],
    }
    assert read_traits(schema) == {
        "a": Trait(string_only=True, secret=True),
        "b": Trait(allow_dash=True),
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "#", "#/properties/a", "#/x/0", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "type",
                        "enum",
                        "const",
                        "properties",
                        "$ref",
                        "$dynamicRef",
                        "allOf",
                        "anyOf",
                        "oneOf",
                        "if",
                    ),
                    *(
                        "not",
                        "required",
                        "dependentSchemas",
                        "dependentRequired",
                        "x-secret",
                        "x-allow-dash",
                        "a",
                    ),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(st.dictionaries(st.sampled_from(["properties", "$ref", "allOf", "x", "not", "required"]), json_values))
def test_anything_that_is_no_schema_can_be_asked(schema: Schema) -> None:
    assert read_traits(schema).keys() == text_takers(schema).keys() == declared(schema).keys() <= named(schema)


def test_a_schema_names_what_it_speaks_of_be_it_to_forbid_it() -> None:
    schema: Schema = {
        "properties": {"a": {"enum": ["apply"], "properties": {"deep": {}}}},
        "required": ["b", 7],
        "not": {"required": ["mode"], "properties": {"c": {}}},
        "dependentRequired": {"d": ["a"]},
        "dependentSchemas": {"e": {"required": ["f"]}},
        "description": "confirm",
    }
    assert named(schema) == {"a", "b", "mode", "c", "d", "e", "f"}


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"allOf": {"properties": 1}}, {"required": "x"}], ids=str)
def test_a_schema_that_is_no_schema_declares_nothing(schema: Schema) -> None:
    assert declared(schema) == {}
    assert named(schema) == frozenset()

"""The short cut for plain schemas, held against the engine that it spares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from hcpx.rendering.flat_schema import flat_schema

PLAIN: dict[str, object] = {
    "type": "object",
    "title": "A transfer",
    "properties": {
        "amount": {"type": ["string", "number"], "description": "Amount to move", "x-secret": True},
        "count": {"type": "integer", "default": 1},
        "format": {"type": "string", "enum": ["json", "text"]},
        "word": {"enum": ["a", "b"]},
        "any": {},
        "odd": {"type": "number", "enum": ["x"]},
    },
    "required": ["amount"],
    "additionalProperties": False,
}


def accepts(args: dict[str, object], **changes: object) -> bool:
    flat = flat_schema({**PLAIN, **changes})
    assert flat is not None
    return flat.accepts(args)


@pytest.mark.parametrize(
    "args",
    [
        {"amount": "2.80"},
        {"amount": 2.8, "count": 10**400},
        {"amount": 1, "format": "json", "word": "b"},
        {"amount": 1, "any": {"x": [None]}},
        {"amount": 1, "any": None},
    ],
    ids=ascii,
)
def test_args_that_fit_are_accepted(args: dict[str, object]) -> None:
    assert accepts(args)


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"amount": True},
        {"amount": None},
        {"amount": 1, "count": 1.5},
        {"amount": 1, "count": True},
        {"amount": 1, "count": 1.0},
        {"amount": 1, "format": "xml"},
        {"amount": 1, "format": ["json"]},
        {"amount": 1, "odd": "x"},
        {"amount": 1, "odd": 1},
        {"amount": 1, "extra": 1},
    ],
    ids=str,
)
def test_args_that_do_not_fit_or_might_not_are_left_to_the_engine(args: dict[str, object]) -> None:
    assert not accepts(args)


def test_an_open_schema_takes_more_args() -> None:
    assert accepts({"amount": 1, "extra": {1}}, additionalProperties=True)
    flat = flat_schema({"type": "object"})
    assert flat is not None
    assert flat.accepts({"x": 1})
    assert flat.accepts({})


@pytest.mark.parametrize(
    "changes",
    [
        {"type": ["object", "null"]},
        {"type": None},
        {"minProperties": 1},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"$defs": {}},
        {"properties": []},
        {"properties": {"a": True}},
        {"properties": {"a": {"minimum": 1}}},
        {"properties": {"a": {"type": "strin"}}},
        {"properties": {"a": {"type": ["string", "strin"]}}},
        {"properties": {"a": {"type": []}}},
        {"properties": {"a": {"type": ["string", "string"]}}},
        {"properties": {"a": {"type": None}}},
        {"properties": {"a": {"type": [["string"]]}}},
        {"properties": {"a": {"enum": "ab"}}},
        {"properties": {"a": {"enum": [1]}}},
        {"properties": {"a": {"enum": ["a", "a"]}}},
        {"properties": {"a": {"$ref": "#"}}},
        {"required": ["a", "a"]},
        {"required": [1]},
        {"required": "a"},
        {"additionalProperties": {}},
        {"additionalProperties": None},
    ],
    ids=str,
)
def test_a_schema_that_says_more_or_is_wrong_has_no_flat_form(changes: dict[str, object]) -> None:
    assert flat_schema({**PLAIN, **changes}) is None


names = st.sampled_from(["a", "b", "c"])
types = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null"])
keywords = st.fixed_dictionaries(
    {},
    optional={
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "enum": st.lists(st.sampled_from(["x", "y", 1, True, None]), min_size=1, unique_by=repr),
        "minimum": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "not": st.just({"type": "string"}),
        "title": st.just("t"),
        "x-secret": st.booleans(),
    },
)
schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(names, keywords),
        "required": st.lists(names, unique=True),
        "additionalProperties": st.booleans(),
        "maxProperties": st.integers(0, 3),
    },
)
values = (
    st.sampled_from(["x", "y", "", "long text", 0, 1, 2, 10**30, 1.0, 1.5, True, False, None])
    | st.just([])
    | st.just({"x": 1})
)


@given(schemas, st.dictionaries(names, values))
def test_what_the_flat_form_accepts_the_engine_accepts(schema: dict[str, object], args: dict[str, object]) -> None:
    flat = flat_schema(schema)
    if flat is not None and flat.accepts(args):
        assert Draft202012Validator(schema).is_valid(args)

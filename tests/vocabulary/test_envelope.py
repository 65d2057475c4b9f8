"""The exec envelope (Spec 01 section 2): any input gives a value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hcpx.vocabulary.denial import deny
from hcpx.vocabulary.envelope import MAX_BYTES, BadEnvelope, Envelope, Payload, read_envelope

TRANSFER: Mapping[str, object] = MappingProxyType(
    {"pack_id": "ledger", "verb_key": "transfer", "args": {"amount": 10, "confirm": True}}
)


def text_with(**fields: object) -> str:
    return json.dumps({"pack_id": "ledger", "verb_key": "transfer", **fields})


def refusal(payload: Payload) -> str:
    read = read_envelope(payload)
    assert isinstance(read, BadEnvelope)
    assert (read.denial.code, read.denial.step) == ("invalid_envelope", 1)
    return read.denial.error.removeprefix("invalid envelope: ")


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(TRANSFER, id="mapping"),
        pytest.param(json.dumps(dict(TRANSFER)), id="text"),
        pytest.param(json.dumps(dict(TRANSFER)).encode(), id="bytes"),
    ],
)
def test_a_mapping_a_text_and_bytes_are_the_same_envelope(payload: Payload) -> None:
    assert read_envelope(payload) == Envelope("ledger", "transfer", {"amount": 10, "confirm": True})
    assert read_envelope(cast("bytes", bytearray(json.dumps(dict(TRANSFER)), "utf-8"))) == read_envelope(payload)


def test_all_fields_are_read() -> None:
    assert read_envelope(text_with(args={}, request_id="r-1", idempotency_key="k-1")) == Envelope(
        "ledger", "transfer", {}, "r-1", "k-1"
    )


def test_absent_args_are_an_empty_object() -> None:
    assert read_envelope('{"pack_id":"ledger","verb_key":"balance"}') == Envelope("ledger", "balance", {})


def test_the_alias_stands_for_the_pack_id() -> None:
    expected = Envelope("ledger", "balance", {})
    assert read_envelope('{"surface_id":"ledger","verb_key":"balance"}') == expected
    assert read_envelope('{"surface_id":"ledger","pack_id":"ledger","verb_key":"balance"}') == expected


def test_an_id_is_kept_byte_for_byte() -> None:
    assert read_envelope({"pack_id": " Le\u0301dger\n", "verb_key": ""}) == Envelope(" Le\u0301dger\n", "", {})


@pytest.mark.parametrize(
    ("payload", "what"),
    [
        pytest.param("", "not JSON: Expecting value, line 1 column 1", id="nothing"),
        pytest.param("[]", "not an object", id="list"),
        pytest.param("null", "not an object", id="null"),
        pytest.param('"ledger"', "not an object", id="string"),
        pytest.param("{}", "pack_id is missing", id="no pack"),
        pytest.param('{"pack_id":"ledger"}', "verb_key is missing", id="no verb"),
        pytest.param('{"pack_id":null,"verb_key":"x"}', "pack_id is not a string", id="null pack"),
        pytest.param('{"surface_id":1,"verb_key":"x"}', "surface_id is not a string", id="alias type"),
        pytest.param(text_with(surface_id="transit"), "pack_id and surface_id differ", id="alias differs"),
        pytest.param(text_with(verb_key=["x"]), "verb_key is not a string", id="verb type"),
        pytest.param(text_with(args=[]), "args is not an object", id="args list"),
        pytest.param(text_with(args=None), "args is not an object", id="args null"),
        pytest.param(text_with(request_id=7), "request_id is not a string", id="request id type"),
        pytest.param(text_with(idempotency_key=None), "idempotency_key is not a string", id="key type"),
        pytest.param(text_with(pack_id="p" * 257), "pack_id has more than 256 characters", id="long pack"),
        pytest.param(text_with(verb_key="v" * 257), "verb_key has more than 256 characters", id="long verb"),
        pytest.param(text_with(request_id="r" * 129), "request_id has more than 128 characters", id="long request"),
        pytest.param(
            text_with(idempotency_key="k" * 129),
            "idempotency_key has more than 128 characters",
            id="long key",
        ),
        pytest.param(text_with(tenant="acme"), "unknown field tenant", id="unknown field"),
        pytest.param(text_with(**{"x\u202ey": 1}), "unknown field x\\u{202E}y", id="invisible field"),
        pytest.param('{"args":{"confirm":false,"confirm":true}}', "duplicate key at args.confirm", id="duplicate"),
        pytest.param('{"pack_id":"a","pack_id":"b"}', "duplicate key at pack_id", id="duplicate id"),
        pytest.param(text_with(args={"memo": "x\0y"}), "a string holds NUL at args.memo", id="NUL"),
        pytest.param(text_with(args={"n": float("inf")}), "Infinity is not JSON", id="infinity"),
        pytest.param('{"pack_id":"\ud800"}', "a lone surrogate in the text", id="surrogate in the text itself"),
        pytest.param(b"{\xff}", "not UTF-8 at byte 1", id="not UTF-8"),
        pytest.param({"pack_id": {1}}, "a value of type set is not JSON at pack_id", id="python value"),
        pytest.param(cast("Payload", {1: 2}), "a key is not a string", id="python key"),
        pytest.param(cast("Payload", None), "not JSON: NoneType", id="no payload"),
        pytest.param(cast("Payload", ["pack_id"]), "not JSON: list", id="a list in Python"),
    ],
)
def test_a_bad_envelope_is_a_denial_that_says_what_and_where(payload: Payload, what: str) -> None:
    assert refusal(payload) == what


def test_ids_of_exactly_the_longest_length_are_taken() -> None:
    payload = text_with(pack_id="p" * 256, verb_key="v" * 256, request_id="r" * 128, idempotency_key="k" * 128)
    assert read_envelope(payload) == Envelope("p" * 256, "v" * 256, {}, "r" * 128, "k" * 128)


@pytest.mark.parametrize("kind", ["text", "bytes", "mapping", "wide text"])
def test_one_byte_over_a_mebibyte_is_too_much(kind: str) -> None:
    frame = len('{"pack_id":"a","verb_key":"b","args":{"x":""}}')
    filler = "é" * ((MAX_BYTES - frame) // 2) if kind == "wide text" else "x" * (MAX_BYTES - frame)

    def payload(value: str) -> Payload:
        text = '{"pack_id":"a","verb_key":"b","args":{"x":"' + value + '"}}'
        if kind == "mapping":
            return {"pack_id": "a", "verb_key": "b", "args": {"x": value}}
        return text.encode() if kind == "bytes" else text

    assert read_envelope(payload(filler)) == Envelope("a", "b", {"x": filler})
    assert refusal(payload(filler + "xx")) == "over 1 MiB"


def test_a_bad_envelope_still_tells_the_ids_that_it_named() -> None:
    named = read_envelope('{"surface_id":"ledger","verb_key":"pay","request_id":"r-1","args":{"a":"\\u0000"}}')
    assert named == BadEnvelope(deny("invalid_envelope", what="a string holds NUL at args.a"), "ledger", "pay", "r-1")


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param("{", id="unreadable"),
        pytest.param("[1]", id="no object"),
        pytest.param('{"pack_id":1,"verb_key":[],"request_id":{}}', id="wrong types"),
        pytest.param('{"pack_id":"' + "p" * 257 + '"}', id="too long"),
    ],
)
def test_ids_that_cannot_be_told_are_none(payload: str) -> None:
    read = read_envelope(payload)
    assert isinstance(read, BadEnvelope)
    assert (read.pack_id, read.verb_key, read.request_id) == (None, None, None)


def test_an_id_with_a_lone_surrogate_comes_back_in_utf8() -> None:
    read = read_envelope('{"pack_id":"a\\ud800","verb_key":"b"}')
    assert isinstance(read, BadEnvelope)
    assert read.pack_id == "a\ufffd"


@pytest.mark.parametrize(
    ("args", "confirmed"),
    [
        ({"confirm": True}, True),
        ({"apply": True}, True),
        ({"confirm": False, "apply": True}, True),
        ({}, False),
        ({"confirm": "true"}, False),
        ({"confirm": 1}, False),
        ({"apply": "yes"}, False),
        ({"confirm": [True]}, False),
        ({"confirm": 1.0}, False),
    ],
    ids=str,
)
def test_only_the_json_value_true_agrees(args: dict[str, object], confirmed: bool) -> None:
    assert Envelope("a", "b", args).confirmed is confirmed


@pytest.mark.parametrize(
    ("mode", "mock"),
    [("mock", True), ("Mock", False), (True, False), (None, False), (["mock"], False)],
    ids=str,
)
def test_only_the_word_mock_asks_for_the_mock_binding(mode: object, mock: bool) -> None:
    assert Envelope("a", "b", {"mode": mode}).mock is mock
    assert not Envelope("a", "b", {}).mock


@given(st.binary() | st.text(st.characters()))
@example(b'{"pack_id":"a","verb_key":"b","args":{"x":1e999}}')
@example(b"\xef\xbb\xbf{}")
@example(b"[" * 200_000)
@example('{"pack_id":"' * 3)
def test_any_bytes_and_any_text_give_a_value(payload: Payload) -> None:
    assert isinstance(read_envelope(payload), (Envelope, BadEnvelope))


@given(
    st.dictionaries(
        st.sampled_from(["pack_id", "surface_id", "verb_key", "args", "request_id", "idempotency_key", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()) | st.integers(), inner),
        ),
    )
)
def test_any_mapping_gives_a_value_with_a_sendable_text(payload: dict[str, object]) -> None:
    read = read_envelope(payload)
    if isinstance(read, BadEnvelope):
        read.denial.error.encode()
    else:
        assert read_envelope(json.dumps(payload)) == read

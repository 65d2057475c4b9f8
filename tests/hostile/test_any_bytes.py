"""Any bytes as an envelope, as args, as what a program prints: one strict JSON answer, never a trace."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.field_troubles.site import Site

many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(st.characters(), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(["pack_id", "surface_id", "verb_key", "args", "request_id", "idempotency_key", "more"])
ids = st.sampled_from(["depot", "hcp-cli", "run", "hcp.list", "confirm", ""])
envelopes = st.dictionaries(fields, ids | json_values, max_size=6)
near_envelopes = envelopes.map(lambda one: json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A pack that prints, byte for byte, the file that a test lays down for it."""
    folder = tmp_path_factory.mktemp("bytes")
    site = Site(folder)
    site.owner.configure("sandbox", "native-local")
    site.install(
        "depot",
        f"#!/bin/sh\nexec cat '{folder}/printed'\n",
        wrap={"json_flag": None},
        commands={"run": ["depot", "run", "--x={{x}}"]},
    )
    yield site
    site.close()


def strict(text: bytes) -> Any:
    """Parse JSON as RFC 8259 has it: UTF-8, no NaN, no lone surrogate."""

    def refuse(name: str) -> Any:
        raise AssertionError(name)

    value = json.loads(text.decode(), parse_constant=refuse)
    json.dumps(value, ensure_ascii=False).encode()
    return value


@many
@given(payload=st.binary(max_size=60) | near_envelopes)
def test_any_bytes_as_an_envelope_give_a_result(depot: Site, payload: bytes) -> None:
    (depot.folder / "printed").write_bytes(b"")
    result = depot.hcp().exec(payload)
    body = strict(result.to_json())
    assert body["ok"] is result.ok
    assert body.get("code") != "internal"


@many
@given(
    payload=st.dictionaries(fields | st.integers(), ids | json_values | st.binary() | st.complex_numbers(), max_size=5)
)
def test_any_mapping_as_an_envelope_gives_a_result(depot: Site, payload: Any) -> None:
    (depot.folder / "printed").write_bytes(b"")
    assert strict(depot.hcp().exec(payload).to_json()).get("code") != "internal"


def test_a_mapping_that_holds_itself_is_no_envelope(depot: Site) -> None:
    args: dict[str, Any] = {}
    args["x"] = args
    assert depot.hcp().exec({"pack_id": "depot", "verb_key": "run", "args": args}).code == "invalid_envelope"


printed = (
    st.binary(max_size=40)
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.tuples(st.sampled_from([b"", b"\xef\xbb\xbf", b" \n"]), json_values).map(
        lambda pair: pair[0] + json.dumps(pair[1], ensure_ascii=False).encode("utf-8", "surrogatepass")
    )
)


@settings(many, max_examples=60)
@given(data=printed)
def test_whatever_a_program_prints_the_answer_is_strict_json_and_true(depot: Site, data: bytes) -> None:
    (depot.folder / "printed").write_bytes(data)
    result = depot.call("depot", "run")
    body = strict(result.to_json())
    assert (body["ok"], body["exit_code"], body["stdout"]) == (True, 0, data.decode("utf-8", "replace"))
    assert base64.b64decode(body.get("stdout_base64", "")) == (b"" if is_utf8(data) else data)
    assert same(body["result"], meant(data))


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def meant(data: bytes) -> Any:
    """What the output means by the rules, read with another parser; lone surrogates are left in."""

    def number(text: str) -> float:
        value = float(text)
        if math.isinf(value):
            raise ValueError(text)
        return value

    def refuse(name: str) -> Any:
        raise ValueError(name)

    try:
        return json.loads(data.decode().removeprefix("\ufeff"), parse_constant=refuse, parse_float=number)
    except ValueError:
        return data.decode("utf-8", "replace")


def one(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def same(got: Any, wanted: Any) -> bool:
    """Compare with lone surrogates of `wanted` read as U+FFFD, and types told apart."""
    if isinstance(wanted, str):
        return isinstance(got, str) and got == one(wanted)
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(wanted, dict):
        pairs = {one(key): value for key, value in wanted.items()}
        return isinstance(got, dict) and got.keys() == pairs.keys() and all(same(got[key], pairs[key]) for key in got)
    return type(got) is type(wanted) and got == wanted


ODD: dict[str, bytes] = {
    "nothing": b"",
    "zeros": b"\0" * 100,
    "not UTF-8": b"\xff\xfe\xfd",
    "UTF-16": '{"pack_id":"depot","verb_key":"run"}'.encode("utf-16"),
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 50_000,
    "over 1 MiB": b'{"pack_id":"depot","verb_key":"run","args":{"x":"' + b"x" * 1_100_000 + b'"}}',
    "digits": b'{"pack_id":"depot","verb_key":"run","args":{"x":' + b"9" * 900_000 + b"}}",
    "exponent": b'{"pack_id":"depot","verb_key":"run","args":{"x":1e999999999}}',
    "many keys": b"{" + b",".join(b'"k%d":1' % n for n in range(50_000)) + b"}",
    "escapes": b'{"pack_id":"' + b"\\u0041" * 100_000 + b'"}',
}


@pytest.mark.parametrize("payload", ODD.values(), ids=ODD.keys())
def test_odd_bytes_on_stdin_give_one_json_document(site: Site, payload: bytes) -> None:
    done = site.cli("exec", "-", "--json", stdin=payload)
    assert (done.status, done.body["code"], done.stderr) == (64, "invalid_envelope", b"")
    assert (done.body["ok"], len(done.body["error"]) < 4200) == (False, True)


@pytest.mark.parametrize("face", ["sdk", "cli"])
def test_a_program_that_prints_every_byte_is_answered_in_utf8(depot: Site, face: str, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4
    (depot.folder / "printed").write_bytes(data)
    result = depot.faces('{"pack_id":"depot","verb_key":"run"}')[face]
    assert base64.b64decode(result["stdout_base64"]) == data
    people = depot.cli("exec", "depot", "run")
    people.stdout.decode()
    assert people.status == 0


@pytest.mark.parametrize("pair", ["x=@/dev/zero", "x:=@/dev/zero", "x=@-"])
def test_a_file_without_an_end_is_refused(depot: Site, pair: str) -> None:
    done = depot.cli("exec", "depot", "run", "--json", "--", pair, stdin=b"x" * 1_100_000)
    assert (done.status, done.body["code"], "more than 1 MiB" in done.body["error"]) == (2, "usage", True)


@pytest.mark.parametrize("pair", ["x=@", "x=@/", "x=@/proc/self/mem", "x=@/dev/full", "x=@/etc/shadow/x", "x=@\udcff"])
def test_a_file_that_cannot_be_read_is_a_usage_error(depot: Site, pair: str) -> None:
    done = depot.cli("exec", "depot", "run", "--json", "--", pair)
    assert (done.status, done.body["code"]) == (2, "usage")

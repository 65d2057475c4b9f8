"""The exec envelope (Spec 01 section 2): what every Invoker sends, and the one strict reader of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from .denial import Denial, deny
from .json_text import JsonProblem, checked, encode, mended_text, parse_strict

MAX_BYTES: Final = 1024 * 1024
MAX_ID: Final = 256
MAX_KEY: Final = 128
_MOST: Final = {
    "pack_id": MAX_ID,
    "surface_id": MAX_ID,
    "verb_key": MAX_ID,
    "request_id": MAX_KEY,
    "idempotency_key": MAX_KEY,
}
_FIELDS: Final = frozenset({*_MOST, "args"})
_BOTH: Final = frozenset({"pack_id", "surface_id"})

Payload = bytes | str | Mapping[str, object]


class Envelope(msgspec.Struct, frozen=True):
    """One call: which command of which pack, with which args (JSON values of plain types)."""

    pack_id: str
    verb_key: str
    args: dict[str, object]
    request_id: str | None = None
    idempotency_key: str | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the caller agreed: only the JSON value true counts."""
        return self.args.get("confirm") is True or self.args.get("apply") is True

    @property
    def mock(self) -> bool:
        """Whether the caller asked for the mock Binding."""
        return self.args.get("mode") == "mock"


class BadEnvelope(msgspec.Struct, frozen=True):
    """Why a payload is no envelope, and the ids it named where they can be told."""

    denial: Denial
    pack_id: str | None = None
    verb_key: str | None = None
    request_id: str | None = None


def read_envelope(payload: Payload) -> Envelope | BadEnvelope:
    """Read bytes, text or a mapping as an envelope; any input gives a value, none an exception."""
    parsed: object = None
    try:
        parsed = _parsed(payload)
        body = checked(parsed)
        if isinstance(payload, Mapping):
            _sized(len(encode(body)))
    except JsonProblem as problem:
        return _bad(str(problem), parsed)
    if not isinstance(body, dict):
        return _bad("not an object", None)
    fields = cast("dict[str, Any]", body)
    what = _fault(fields)
    if what is not None:
        return _bad(what, fields)
    return Envelope(
        pack_id=fields["pack_id"] if "pack_id" in fields else fields["surface_id"],
        verb_key=fields["verb_key"],
        args=fields.get("args", {}),
        request_id=fields.get("request_id"),
        idempotency_key=fields.get("idempotency_key"),
    )


def _parsed(payload: object) -> object:
    if isinstance(payload, Mapping):
        return dict(cast("Mapping[object, object]", payload))
    if isinstance(payload, str):
        _sized(len(payload))
        try:
            _sized(len(payload.encode()))
        except UnicodeEncodeError:
            raise JsonProblem("a lone surrogate in the text") from None
        return parse_strict(payload)
    if not isinstance(payload, (bytes, bytearray, memoryview)):
        raise JsonProblem(f"not JSON: {type(payload).__name__}")
    data = bytes(cast("bytes", payload))
    _sized(len(data))
    try:
        return parse_strict(data.decode())
    except UnicodeDecodeError as problem:
        raise JsonProblem(f"not UTF-8 at byte {problem.start}") from None


def _bad(what: str, parsed: object) -> BadEnvelope:
    """Refuse a payload; the ids that it named come back where they can be told."""
    fields = cast("dict[str, object]", parsed) if isinstance(parsed, dict) else {}
    return BadEnvelope(
        deny("invalid_envelope", what=what),
        pack_id=_id_of(fields.get("pack_id", fields.get("surface_id")), MAX_ID),
        verb_key=_id_of(fields.get("verb_key"), MAX_ID),
        request_id=_id_of(fields.get("request_id"), MAX_KEY),
    )


def _sized(size: int) -> None:
    if size > MAX_BYTES:
        raise JsonProblem("over 1 MiB")


def _fault(fields: dict[str, object]) -> str | None:
    """Say what is wrong with the fields of an envelope, or None."""
    if not fields.keys() <= _FIELDS:
        unknown = next(name for name in fields if name not in _FIELDS)
        return f"unknown field {unknown[:MAX_ID]}"
    if "pack_id" not in fields and "surface_id" not in fields:
        return "pack_id is missing"
    if "verb_key" not in fields:
        return "verb_key is missing"
    for name, most in _MOST.items():
        if name in fields and (what := _text_fault(name, fields[name], most)):
            return what
    if fields.keys() >= _BOTH and fields["pack_id"] != fields["surface_id"]:
        return "pack_id and surface_id differ"
    if not isinstance(fields.get("args", {}), dict):
        return "args is not an object"
    return None


def _text_fault(name: str, value: object, most: int) -> str | None:
    if not isinstance(value, str):
        return f"{name} is not a string"
    if len(value) > most:
        return f"{name} has more than {most} characters"
    return None


def _id_of(value: object, most: int) -> str | None:
    if not isinstance(value, str) or len(value) > most:
        return None
    return mended_text(value)

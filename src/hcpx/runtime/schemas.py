"""The published schemas of what goes over the gate: pack.yaml, envelope, Result (JSON Schema 2020-12)."""

from __future__ import annotations

import msgspec

from hcpx.packs.schema import pack_schema
from hcpx.vocabulary.result import Result

__all__ = ["envelope_schema", "pack_schema", "result_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ID = {"type": "string", "maxLength": 256}
_NAME = {"type": "string", "maxLength": 128}


def envelope_schema() -> dict[str, object]:
    """Return the form of an envelope (Spec 01 section 2), as far as a schema can say it."""
    return {
        "$schema": _DIALECT,
        "title": "HCP exec envelope",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "pack_id": _ID,
            "surface_id": _ID | {"deprecated": True, "description": "The older name of pack_id"},
            "verb_key": _ID,
            "args": {"type": "object"},
            "request_id": _NAME,
            "idempotency_key": _NAME,
        },
        "required": ["verb_key"],
        "anyOf": [{"required": ["pack_id"]}, {"required": ["surface_id"]}],
    }


def result_schema() -> dict[str, object]:
    """Return the form of a Result (Spec 01 section 4)."""
    return {"$schema": _DIALECT, **msgspec.json.schema(Result, schema_hook=_any_value)}


def _any_value(_: type) -> dict[str, object]:
    return {"description": "any JSON value"}

"""The published JSON Schema of pack.yaml: what editors complete by, and the one list of known keys."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import cast

Schema = dict[str, object]


def pack_schema_text() -> str:
    """Return the JSON Schema (2020-12) of pack.yaml as it is published (`hcpx schema pack`)."""
    return Path(__file__).with_name("pack.schema.json").read_text(encoding="utf-8")


@cache
def pack_schema() -> Schema:
    """Return the schema as a value; callers do not change it."""
    return cast("Schema", json.loads(pack_schema_text()))


def resolved(schema: Schema) -> Schema:
    """Return the schema with its `$ref`, if any, followed; what stands beside the reference wins."""
    if "$ref" not in schema:
        return schema
    target: Schema = pack_schema()
    for part in cast("str", schema["$ref"]).removeprefix("#/").split("/"):
        target = cast("Schema", target[part])
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return {**resolved(target), **beside}


def under(schema: Schema, key: str) -> Schema | None:
    """Return the schema of the value under `key`, or None where the key is unknown there."""
    properties = cast("dict[str, Schema]", schema.get("properties", {}))
    if key in properties:
        return resolved(properties[key])
    rest = schema.get("additionalProperties", {})
    return resolved(cast("Schema", rest)) if isinstance(rest, dict) else None

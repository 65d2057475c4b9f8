"""What a grant must be to be stored (Spec 01 sections 1 and 3): exact strings and nothing unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, cast

from hcpx.vocabulary.capability import ANY, CAPABILITIES, Grant
from hcpx.vocabulary.json_text import JsonProblem, encode, read_strict
from hcpx.vocabulary.principal import is_pack_id, is_verb_key
from hcpx.vocabulary.text import nearest, shown

from .errors import Refused

_FIELDS: Final = ("capability", "pack_id", "verb_keys", "args_schema", "until")
_PATTERN: Final = frozenset("*?[]{}!^$|\\")
_MOST_KEYS: Final = 1000


def checked_grant(grant: Grant, now: float) -> Grant:
    """Return the grant as it is stored, its commands sorted and once each, or raise `Refused`."""
    if grant.capability not in CAPABILITIES:
        raise Refused(_unknown("capability", grant.capability, CAPABILITIES))
    if grant.pack_id != ANY and not is_pack_id(grant.pack_id):
        raise Refused(_no_id("pack", grant.pack_id))
    keys = tuple(sorted(set(grant.verb_keys)))
    if len(keys) > _MOST_KEYS:
        raise Refused(f"{len(keys)} verb keys in one grant, at most {_MOST_KEYS}; to mean all, write *")
    for key in keys:
        if key != ANY and not is_verb_key(key):
            raise Refused(_no_id("verb_key", key))
    if grant.until is not None and not (math.isfinite(grant.until) and grant.until > now):
        raise Refused("until is not in the future, so the grant would give nothing")
    return Grant(grant.capability, grant.pack_id, keys, _checked_schema(grant.args_schema), grant.until)


def grant_from(fields: Mapping[str, object], now: float) -> Grant:
    """Read a grant that somebody wrote as a mapping, or raise `Refused`.

    `args_schema` may be a JSON Schema itself or its text. What is missing is never taken for all.
    """
    for name in fields:
        if name not in _FIELDS:
            raise Refused(_unknown("field of a grant", name, _FIELDS))
    capability, pack_id = fields.get("capability"), fields.get("pack_id")
    if not isinstance(capability, str) or not isinstance(pack_id, str):
        raise Refused("a grant needs capability and pack_id, each a text")
    keys = fields.get("verb_keys")
    if not isinstance(keys, Sequence) or isinstance(keys, (str, bytes)):
        raise Refused("a grant needs verb_keys, a list of verb keys or of *")
    if not all(isinstance(key, str) for key in cast("Sequence[object]", keys)):
        raise Refused("verb_keys holds something that is no text")
    until = fields.get("until")
    if until is not None and (isinstance(until, bool) or not isinstance(until, (int, float))):
        raise Refused("until is not a time in Unix seconds")
    schema = fields.get("args_schema")
    if isinstance(schema, (Mapping, bool)):
        schema = encode(cast("object", schema)).decode()
    if schema is not None and not isinstance(schema, str):
        raise Refused("args_schema is not a JSON Schema")
    return checked_grant(
        Grant(
            capability,
            pack_id,
            tuple(cast("Sequence[str]", keys)),
            schema,
            None if until is None else float(until),
        ),
        now,
    )


def _checked_schema(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        schema = read_strict(text)
    except JsonProblem as problem:
        raise Refused(f"args_schema is not JSON: {problem}") from None
    if not isinstance(schema, (dict, bool)):
        raise Refused("args_schema is not a JSON Schema: neither an object nor true or false")
    return text


def _no_id(what: str, text: str) -> str:
    if _PATTERN.intersection(text):
        return f"{what} {shown(text)!r}: there is no pattern but {ANY}, which stands for all"
    return f"{shown(text)!r} is no {what}"


def _unknown(what: str, text: str, known: tuple[str, ...]) -> str:
    near = nearest(text, known)
    meant = f", did you mean {near}?" if near else f"; there are {', '.join(known)}"
    return f"unknown {what} {shown(text)!r}{meant}"

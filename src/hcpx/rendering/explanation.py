"""Of all that a schema has against some args, the one thing that helps a person most, in plain words.

The words name what the schema asks for and never what the caller sent: no value of an arg is ever repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

import msgspec

from hcpx.vocabulary.json_text import canonical, number_text

from .refusal import Path, pointer, unknown
from .traits import Schema, declared

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_MOST_NAMES: Final = 20
_MOST_OPTIONS: Final = 8
_LONGEST_OPTION: Final = 60
_TYPES: Final = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_COUNTS: Final = {
    "MinLength": ("at least", "character"),
    "MaxLength": ("at most", "character"),
    "MinItems": ("at least", "item"),
    "MaxItems": ("at most", "item"),
    "MinProperties": ("at least", "key"),
    "MaxProperties": ("at most", "key"),
}
_WORDS: Final = {
    "Minimum": "must be at least {limit}",
    "Maximum": "must be at most {limit}",
    "ExclusiveMinimum": "must be more than {limit}",
    "ExclusiveMaximum": "must be less than {limit}",
    "MultipleOf": "must be a multiple of {multiple_of}",
    "Pattern": "must match {pattern}",
    "Format": "must be in the format {format}",
    "UniqueItems": "must not hold an item twice",
    "Contains": "holds too few or too many of the items asked for",
    "UnevaluatedItems": "has more items than allowed",
    "FalseSchema": "is not allowed",
    "Not": "is not allowed",
    "OneOfMultipleValid": "fits more than one of the allowed forms",
    "BacktrackLimitExceeded": "takes too long to match its pattern",
}
# The kinds that say: the value is not of the form that this schema speaks of.
_OF_FORM: Final = frozenset({"Type", "Enum", "Constant"})
_OF_TAG: Final = frozenset({"Enum", "Constant"})


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong: of which kind, at which path, in which words."""

    kind: str
    path: Path
    why: str


def explain(
    errors: Iterable[ValidationError], schema: Schema, args: Mapping[str, object], order: Collection[str]
) -> Finding:
    """Return the best of the errors, whatever order they come in; `order` holds the args as declared.

    An unknown arg comes first (it often explains a missing one), then a missing one, then what is wrong with
    the arg that is declared first.
    """
    places = {name: place for place, name in enumerate(order)}
    return min(_findings(errors, schema, args), key=lambda one: _weight(one, places))


def _weight(finding: Finding, places: Mapping[str, int]) -> tuple[int, int, bool, tuple[str, ...], str]:
    path = finding.path
    group = {"Unknown": 0, "Required": 1}.get(finding.kind, 2) if len(path) == 1 else 2
    place = places.get(str(path[0]), len(places)) if path else -1
    steps = tuple(f"{step:09}" if isinstance(step, int) else step for step in path)
    return group, place, finding.kind not in _OF_FORM, steps, finding.why


def _findings(errors: Iterable[ValidationError], schema: Schema, args: Mapping[str, object]) -> list[Finding]:
    return [_finding(error, schema, args) for error in errors]


def _finding(error: ValidationError, schema: Schema, args: Mapping[str, object]) -> Finding:
    kind = type(error.kind).__name__
    path = tuple(error.instance_path)
    facts = error.kind.as_dict()
    if kind == "Required":
        return Finding(kind, (*path, facts["property"]), "missing")
    if kind in ("AdditionalProperties", "UnevaluatedProperties"):
        holder = cast("Schema", _at(schema, error.schema_path[:-1]))
        return _unknown(path, facts["unexpected"], tuple(declared(holder)))
    if kind == "FalseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        names = _at(args, path)  # without `properties` beside it, each of them is unknown
        if names and isinstance(names, dict):
            return _unknown(path, list(cast("dict[str, object]", names)), ())
    if kind == "PropertyNames":
        inner = _finding(facts["error"], schema, args)
        return Finding(kind, (*path, str(facts["error"].instance)), f"its name {inner.why}")
    if kind in ("AnyOf", "OneOfNotValid"):
        return _of_branches(path, [_findings(branch, schema, args) for branch in facts["context"]])
    return Finding(kind, path, _words(kind, facts))


def _unknown(path: Path, names: Collection[str], known: tuple[str, ...]) -> Finding:
    """Tell one unknown name of several: the first that a known one is near to, else the first at all."""
    some = sorted(names)[:_MOST_NAMES]
    told = [(name, unknown(name, known)) for name in some]
    name, why = next((one for one in told if not one[1].endswith("argument")), told[0])
    return Finding("Unknown", (*path, name), why)


def _words(kind: str, facts: Mapping[str, object]) -> str:
    if kind == "Type":
        types = cast("list[str]", facts["types"])
        return f"must be {_either([word for name, word in _TYPES.items() if name in types])}"
    if kind == "Constant":
        return _choice([facts["expected_value"]])
    if kind == "Enum":
        return _choice(cast("list[object]", facts["options"]))
    if kind in _COUNTS:
        bound, noun = _COUNTS[kind]
        return f"must have {bound} {facts['limit']} {noun}{'' if facts['limit'] == 1 else 's'}"
    return _WORDS.get(kind, "does not fit its schema").format_map(
        {name: _said(fact) if name in ("limit", "multiple_of") else fact for name, fact in facts.items()}
    )


def _said(number: object) -> str:
    return number_text(number) if isinstance(number, (int, float)) else str(number)


def _choice(options: list[object]) -> str:
    texts = [canonical(option) for option in options if not isinstance(option, (dict, list))]
    if len(texts) < len(options) or not 0 < len(texts) <= _MOST_OPTIONS or max(map(len, texts)) > _LONGEST_OPTION:
        return "must be one of the allowed values"
    return f"must be {'one of ' if len(texts) > 1 else ''}{_either(texts)}"


def _either(texts: list[str]) -> str:
    *head, last = dict.fromkeys(texts)
    return f"{', '.join(head)} or {last}" if head else last


def _of_branches(path: Path, branches: list[list[Finding]]) -> Finding:
    """Explain a value that fits none of several forms by the form that was most likely meant."""
    if all(len(branch) == 1 and branch[0].kind == "Required" for branch in branches):
        first, *others = dict.fromkeys(branch[0].path for branch in branches)
        instead = _either([pointer(other) for other in others]) if others else ""
        return Finding("Required", first, f"missing, or give {instead} instead" if others else "missing")
    forms = [[one.why for one in branch if one.kind in _OF_FORM and one.path == path] for branch in branches]
    if all(forms):
        return Finding("Type", path, f"must be {_either([form[0].removeprefix('must be ') for form in forms])}")

    def misfit(branch: list[Finding]) -> tuple[int, int]:
        """Another form comes last, then one whose tag (a fixed value of one of its keys) differs."""
        tags = [one for one in branch if one.kind in _OF_TAG and len(one.path) == len(path) + 1]
        return len(tags), len(branch)

    meant = min((branch for branch, form in zip(branches, forms, strict=True) if not form), key=misfit)
    return min(meant, key=lambda one: _weight(one, {}))


def _at(node: object, path: Sequence[str | int]) -> object:
    """Return what the engine found at a path."""
    for step in path:
        node = cast("dict[str | int, object]", node)[step]
    return node

"""Args held against JSON Schemas: of commands, grants and overlays (Spec 01 section 3, Spec 02 section 1).

Draft 2020-12, references inside the document only, formats asserted where the engine knows them. A schema
that cannot be read or compiled accepts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast

from hcpx.vocabulary.json_text import JsonProblem, read_strict

from .flat_schema import FlatSchema, flat_schema
from .refusal import pointer, refused
from .traits import Schema, declared, named

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

    from hcpx.vocabulary.denial import Denial

CONTROL_ARGS: Final = ("confirm", "apply", "mode")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SCHEMA_DEPTH: Final = 127  # the engine reads no deeper one
_MOST_VALUES: Final = 2000
_MOST_SCHEMAS: Final = 512


class ArgsSchema:
    """One schema, read from its JSON text; the engine compiles it when it is first needed.

    `body` is the parsed schema (empty where it is a boolean or cannot be read), `declared` its args in order,
    `named` all that it speaks of.
    """

    __slots__ = ("_engine", "_fault", "_flat", "_unasked", "body", "declared", "named", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._engine: Draft202012Validator | None = None
        self._fault: str | None = None
        self.body: Schema = {}
        try:
            parsed = read_strict(text, _SCHEMA_DEPTH)
        except JsonProblem as problem:
            self._fault = str(problem)
        else:
            self.body = cast("Schema", parsed) if isinstance(parsed, dict) else {}
        self.declared = tuple(declared(self.body))
        self.named = named(self.body)
        self._unasked = frozenset(CONTROL_ARGS) - self.named
        self._flat: FlatSchema | None = flat_schema(self.body)

    def accepts(self, args: Mapping[str, object]) -> bool:
        """Tell whether the args of a call fit; where that cannot be told, they do not."""
        asked = self._asked(args)
        if self._flat is not None and self._flat.accepts(asked):
            return True
        engine = self._compiled()
        if engine is None:
            return False
        try:
            return engine.is_valid(asked)
        except ValueError:  # a value that was not checked, such as a lone surrogate
            return False

    def refusal(
        self, args: Mapping[str, object], secret: frozenset[str] = frozenset(), excused: str | None = None
    ) -> Denial | None:
        """Return what the schema has against the args as one denial, or None where they fit.

        Of a `secret` arg nothing is told but that it is missing or of the wrong type. What is wrong with the
        arg `excused` does not count.
        """
        if self.accepts(args):
            return None
        asked = self._asked(args)
        engine = self._compiled()
        if engine is None:
            return refused((), f"the schema of the args cannot be used: {self._fault}")
        few = _few(asked)
        try:
            errors = list(engine.iter_errors(asked)) if few else _first_error(engine, asked)
        except ValueError:
            return refused((), "cannot be held against the schema of the args")
        counted = [error for error in errors if error.instance_path[:1] != [excused]]
        if not counted:
            return None if errors and few else refused((), "does not fit the schema of the args")
        from .explanation import explain  # only args that do not fit pay for it

        finding = explain(counted, self.body, asked, self.declared)
        head = finding.path[:1]
        if head and head[0] in secret and (len(finding.path) > 1 or finding.kind not in ("Required", "Type")):
            return refused(head, "does not fit its schema")
        return refused(finding.path, finding.why)

    def fault(self) -> str | None:
        """Return why the schema cannot be used, or None; this compiles it."""
        self._compiled()
        return self._fault

    def _asked(self, args: Mapping[str, object]) -> dict[str, object]:
        """Return what the schema is asked about.

        Control args that it does not name are left out, and null for an arg that it names counts as absent
        (Spec 01 section 3, Spec 08 point 2).
        """
        return {
            name: value
            for name, value in args.items()
            if name not in self._unasked and (value is not None or name not in self.named)
        }

    def _compiled(self) -> Draft202012Validator | None:
        if self._engine is None and self._fault is None:
            self._fault = _foreign(self.body)
            if self._fault is None:
                self._engine, self._fault = _engine(self.text)
        return self._engine


def _engine(text: str) -> tuple[Draft202012Validator | None, str | None]:
    """Compile a schema: the engine, or why there is none. It fetches nothing from anywhere."""
    from jsonschema_rs import Draft202012Validator, ReferencingError

    try:
        return Draft202012Validator(text, validate_formats=True, offline=True), None
    except (ValueError, ReferencingError) as problem:
        place = pointer(tuple(getattr(problem, "instance_path", ())))
        return None, f"{place}: {getattr(problem, 'message', problem)}"


def _few(args: Mapping[str, object]) -> bool:
    """Tell whether the args hold so few values that all errors can be collected in no time."""
    left = _MOST_VALUES
    todo: list[object] = [args]
    while todo and left >= 0:
        one = todo.pop()
        inner: Iterable[object] = ()
        if isinstance(one, dict):
            inner = cast("dict[str, object]", one).values()
        elif isinstance(one, list):
            inner = cast("list[object]", one)
        before = len(todo)
        todo += inner
        left -= len(todo) - before
    return left >= 0


def _first_error(engine: Draft202012Validator, args: Mapping[str, object]) -> list[ValidationError]:
    from jsonschema_rs import ValidationError

    try:
        engine.validate(args)
    except ValidationError as error:
        return [error]
    return []


def _foreign(schema: Schema) -> str | None:
    """Say where the schema points out of its document or asks for another draft, or None."""
    todo: list[tuple[tuple[str | int, ...], object]] = [((), schema)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, list):
            todo.extend(((*path, place), item) for place, item in enumerate(cast("list[object]", node)))
        if not isinstance(node, dict):
            continue
        for key, item in cast("dict[str, object]", node).items():
            if key in ("$ref", "$dynamicRef") and isinstance(item, str) and not item.startswith("#"):
                return f"{pointer((*path, key))}: a reference may only point inside the document"
            if key == "$schema" and item not in (_DIALECT, f"{_DIALECT}#"):
                return f"{pointer((*path, key))}: only JSON Schema draft 2020-12 is read"
            todo.append(((*path, key), item))
    return None


_schemas: dict[str, ArgsSchema] = {}


def args_schema(text: str) -> ArgsSchema:
    """Return the schema of that text, read once."""
    found = _schemas.get(text)
    if found is None:
        if len(_schemas) >= _MOST_SCHEMAS:
            _schemas.clear()
        found = _schemas[text] = ArgsSchema(text)
    return found


def meets(schema_text: str, args: Mapping[str, object]) -> bool:
    """Tell whether the args of a call lie inside the schema of a grant (Spec 01 section 1)."""
    return args_schema(schema_text).accepts(args)


def problem(schema_text: str, args: Mapping[str, object], secret: frozenset[str] = frozenset()) -> Denial | None:
    """Return the `invalid_args` denial of args outside the schema of an overlay (Spec 02 section 1)."""
    return args_schema(schema_text).refusal(args, secret)

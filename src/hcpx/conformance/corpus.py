"""Reads a corpus: its packs, its world, its cases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

WORLD_KEYS: Final = frozenset(
    {
        "tenant", "principal", "actor", "project", "activated", "grants", "scope", "bindings", "allow", "approvers",
        "env",
    }
)  # fmt: skip
CASE_KEYS: Final = frozenset(
    {"name", "needs", "world", "session", "envelope", "envelope_text", "steps", "expect"},
)
SESSIONS: Final = ("live", "none", "expired", "revoked", "disabled")


class BadCorpus(Exception):
    """A corpus that cannot be run; the message names the file and the case."""


class Step(msgspec.Struct, frozen=True):
    """One call of a case: what is sent, what must come back, and what is decided afterwards."""

    payload: object
    is_text: bool
    expect: Mapping[str, Any]
    approve: Mapping[str, Any] | None = None


class Case(msgspec.Struct, frozen=True):
    """One case with the world that it meets."""

    file: str
    name: str
    world: Mapping[str, Any]
    session: str
    steps: Sequence[Step]
    needs_sandbox: bool


class Chapter(msgspec.Struct, frozen=True):
    """One file of the corpus: its packs are manifests by id."""

    file: str
    packs: Mapping[str, Mapping[str, Any]]
    world: Mapping[str, Any]
    cases: Sequence[Case]


class Corpus(msgspec.Struct, frozen=True):
    """A folder of chapters and the program that its packs wrap."""

    chapters: Sequence[Chapter]
    programs: str


def read_corpus(folder: str) -> Corpus:
    """Read a folder with `cases/` and `bin/`, or `cases/` itself with `bin/` beside it (Spec 08 point 27)."""
    inner = os.path.join(folder, "cases")
    cases = inner if os.path.isdir(inner) else folder
    programs = os.path.join(os.path.dirname(os.path.abspath(cases)), "bin")
    if not os.path.isdir(programs):
        raise BadCorpus(f"{folder}: no bin/ beside its cases")
    names = sorted(name for name in os.listdir(cases) if name.endswith((".yaml", ".yml")))
    if not names:
        raise BadCorpus(f"{folder}: no cases")
    return Corpus([_chapter(os.path.join(cases, name)) for name in names], programs)


def _chapter(path: str) -> Chapter:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        with open(path, encoding="utf-8") as file:
            loader: Any = YAML(typ="safe", pure=True)
            body: Any = loader.load(file)
    except (YAMLError, UnicodeDecodeError) as problem:
        raise BadCorpus(f"{path}: {problem}") from None
    if not isinstance(body, dict) or set(cast("dict[str, Any]", body)) - {"packs", "world", "cases"}:
        raise BadCorpus(f"{path}: a chapter has packs, world and cases")
    chapter = cast("dict[str, Any]", body)
    world = mapping(chapter.get("world"))
    name = os.path.basename(path)
    return Chapter(
        file=name,
        packs=mapping(chapter.get("packs")),
        world=world,
        cases=[_case(name, world, mapping(case)) for case in items(chapter.get("cases"))],
    )


def _case(file: str, world: Mapping[str, Any], case: Mapping[str, Any]) -> Case:
    where = f"{file}: {case.get('name')}"
    own = mapping(case.get("world"))
    for what, keys, known in (("case", set(case), CASE_KEYS), ("world", {*world, *own}, WORLD_KEYS)):
        strange = sorted(keys - known)
        if strange:
            raise BadCorpus(f"{where}: unknown {what} key {strange[0]}")
    session = case.get("session", "live")
    if session not in SESSIONS or case.get("needs") not in (None, "sandbox"):
        raise BadCorpus(f"{where}: session is one of {', '.join(SESSIONS)}; needs is sandbox or absent")
    steps = case.get("steps", [case])
    return Case(
        file=file,
        name=str(case["name"]),
        world={**world, **own},
        session=session,
        steps=[_step(where, mapping(step)) for step in items(steps)],
        needs_sandbox=case.get("needs") == "sandbox",
    )


def _step(where: str, step: Mapping[str, Any]) -> Step:
    if ("envelope" in step) == ("envelope_text" in step):
        raise BadCorpus(f"{where}: exactly one of envelope and envelope_text")
    then = mapping(step.get("then"))
    return Step(
        payload=step.get("envelope", step.get("envelope_text")),
        is_text="envelope_text" in step,
        expect=mapping(step.get("expect")),
        approve=then.get("approve"),
    )


def mapping(value: object) -> dict[str, Any]:
    """Return a mapping of YAML or JSON; what is none counts as empty."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a list of YAML or JSON; what is none counts as empty."""
    return cast("list[Any]", value) if isinstance(value, list) else []

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
STEP_KEYS: Final = frozenset({"envelope", "envelope_text", "expect", "then"})
APPROVE_KEYS: Final = frozenset({"as", "actor", "refused"})
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
    """One case with the world that it meets; one that cannot be read has a `problem`, and fails."""

    file: str
    name: str
    world: Mapping[str, Any]
    session: str = "live"
    steps: Sequence[Step] = ()
    needs_sandbox: bool = False
    problem: str | None = None


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
    world = _mapping_at(path, "world", chapter.get("world"))
    listed = chapter.get("cases")
    if not isinstance(listed, list):
        raise BadCorpus(f"{path}: cases is a list")
    name = os.path.basename(path)
    return Chapter(
        file=name,
        packs=_mapping_at(path, "packs", chapter.get("packs")),
        world=world,
        cases=[_read_case(name, world, case) for case in cast("list[Any]", listed)],
    )


def _read_case(file: str, world: Mapping[str, Any], case: object) -> Case:
    """Read one case; what is wrong with it fails it, and no other."""
    name = str(mapping(case).get("name"))
    try:
        return _case(file, name, world, _mapping_at(file, name, case))
    except BadCorpus as bad:
        return Case(file=file, name=name, world=world, problem=str(bad))


def _case(file: str, name: str, world: Mapping[str, Any], case: Mapping[str, Any]) -> Case:
    where = f"{file}: {name}"
    own = _mapping_at(where, "world", case.get("world"))
    _known(where, "case key", set(case), CASE_KEYS)
    _known(where, "world key", {*world, *own}, WORLD_KEYS)
    session = case.get("session", "live")
    if session not in SESSIONS or case.get("needs") not in (None, "sandbox"):
        raise BadCorpus(f"{where}: session is one of {', '.join(SESSIONS)}; needs is sandbox or absent")
    if "steps" in case and STEP_KEYS & set(case):
        raise BadCorpus(f"{where}: beside steps stands no call of the case's own")
    single = {key: value for key, value in case.items() if key in STEP_KEYS}
    listed = case.get("steps", [single])
    if not isinstance(listed, list):
        raise BadCorpus(f"{where}: steps is a list")
    steps = [_step(where, step) for step in cast("list[object]", listed)]
    if not any(step.expect for step in steps):
        raise BadCorpus(f"{where}: nothing is expected")
    return Case(
        file=file,
        name=name,
        world={**world, **own},
        session=session,
        steps=steps,
        needs_sandbox=case.get("needs") == "sandbox",
    )


def _step(where: str, listed: object) -> Step:
    step = _mapping_at(where, "step", listed)
    _known(where, "step key", set(step), STEP_KEYS)
    if ("envelope" in step) == ("envelope_text" in step):
        raise BadCorpus(f"{where}: exactly one of envelope and envelope_text")
    then = _mapping_at(where, "then", step.get("then"))
    _known(where, "decision", set(then), frozenset({"approve"}))
    approve = _mapping_at(where, "approve", then["approve"]) if then else None
    if approve is not None:
        _known(where, "key of approve", set(approve), APPROVE_KEYS)
        if "as" not in approve:
            raise BadCorpus(f"{where}: approve says as whom")
    return Step(
        payload=step.get("envelope", step.get("envelope_text")),
        is_text="envelope_text" in step,
        expect=_mapping_at(where, "expect", step.get("expect")),
        approve=approve,
    )


def _known(where: str, what: str, keys: set[str], known: frozenset[str]) -> None:
    strange = sorted(map(str, keys - known))
    if strange:
        raise BadCorpus(f"{where}: unknown {what} {strange[0]}")


def _mapping_at(where: str, what: str, value: object) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise BadCorpus(f"{where}: {what} is a mapping")
    return mapping(cast("object", value))


def mapping(value: object) -> dict[str, Any]:
    """Return a mapping of YAML or JSON; what is none counts as empty."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a list of YAML or JSON; what is none counts as empty."""
    return cast("list[Any]", value) if isinstance(value, list) else []

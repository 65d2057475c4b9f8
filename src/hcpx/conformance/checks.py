"""Holds an answer against what a case expects: each key given must be equal, types too."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from hcpx.vocabulary.record import SYSTEM

from .faces import Answer
from .world import World

_ABSENT = object()


def faults(world: World, answer: Answer, expect: Mapping[str, Any]) -> list[str]:
    """Return what differs, in words."""
    found: list[str] = []
    for key, wanted in expect.items():
        check = _CHECKS.get(key)
        if check is not None:
            found.extend(check(world, answer, wanted))
        elif key in _FIELDS:
            found.extend(_equal(key, answer.result.get(key, _ABSENT), wanted))
        else:
            found.append(f"unknown expectation {key}")
    return found


_FIELDS = frozenset(
    {
        "ok", "pack_id", "verb_key", "result", "error", "stdout", "stderr", "stdout_base64", "stderr_base64",
        "exit_code", "code", "step", "cause", "hint", "approval", "truncated", "enforced", "warnings", "audit_id",
        "duration_ms", "request_id",
    }
)  # fmt: skip


def same(one: object, other: object) -> bool:
    """Compare JSON values with their types: 1 is not true, and 1 is not 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        left, right = cast("dict[str, object]", one), cast("dict[str, object]", other)
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(one, list):
        first, second = cast("list[object]", one), cast("list[object]", other)
        return len(first) == len(second) and all(map(same, first, second))
    return one == other


def _equal(key: str, got: object, wanted: object) -> Iterator[str]:
    if got is _ABSENT:
        yield f"{key} is absent, wanted {wanted!r}"
    elif not same(got, wanted):
        yield f"{key} is {got!r}, wanted {wanted!r}"


def _error_starts(_: World, answer: Answer, wanted: str) -> Iterator[str]:
    if not str(answer.result.get("error")).startswith(wanted):
        yield f"error is {answer.result.get('error')!r}, wanted it to begin with {wanted!r}"


def _result_has(_: World, answer: Answer, wanted: Mapping[str, Any]) -> Iterator[str]:
    got = answer.result.get("result")
    for key, value in wanted.items():
        held = cast("dict[str, object]", got).get(key, _ABSENT) if isinstance(got, dict) else _ABSENT
        yield from _equal(f"result.{key}", held, value)


def _absent(_: World, answer: Answer, wanted: list[str]) -> Iterator[str]:
    for key in wanted:
        if key in answer.result:
            yield f"{key} is there: {answer.result[key]!r}"


def _not_anywhere(world: World, answer: Answer, wanted: str) -> Iterator[str]:
    if wanted in json.dumps(answer.result, ensure_ascii=False) or wanted in answer.raw:
        yield f"{wanted!r} is in the result"
    for tenant in (world.tenant, SYSTEM):
        if any(wanted.encode() in line for line in world.books.audit.export(tenant)):
            yield f"{wanted!r} is in the audit"
    log = os.path.join(world.home, "trouble.log")
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            if wanted in file.read():
                yield f"{wanted!r} is in the log"


def _audit(world: World, answer: Answer, wanted: Mapping[str, Any]) -> Iterator[str]:
    entry = world.books.audit.show(str(answer.result.get("audit_id")))
    if entry is None:
        yield "no audit record"
        return
    for key, value in wanted.items():
        yield from _equal(f"audit.{key}", entry.get(key, _ABSENT), value)


def _ran(_: World, answer: Answer, wanted: object) -> Iterator[str]:
    if answer.ran is not wanted:
        yield "a program was started" if answer.ran else "no program was started"


def _warnings_has(_: World, answer: Answer, wanted: str) -> Iterator[str]:
    warnings = cast("list[str]", answer.result.get("warnings", []))
    if not any(wanted in warning for warning in warnings):
        yield f"no warning contains {wanted!r}: {warnings!r}"


def _stdout_bytes(_: World, answer: Answer, wanted: int) -> Iterator[str]:
    got = len(str(answer.result.get("stdout", "")).encode())
    if got != wanted:
        yield f"stdout has {got} bytes, wanted {wanted}"


def _wait(_world: World, _answer: Answer, wanted: float) -> Iterator[str]:
    time.sleep(wanted)
    yield from ()


def _files(world: World, _: Answer, wanted: list[str]) -> Iterator[str]:
    got = sorted(os.listdir(world.project))
    if got != sorted(wanted):
        yield f"the project holds {got!r}, wanted {wanted!r}"


def _outside(world: World, _: Answer, wanted: object) -> Iterator[str]:
    changed = world.outside_now() != world.untouched
    if changed is wanted:
        yield f"the folder outside {'changed' if changed else 'did not change'}"


def _cli_exit(_: World, answer: Answer, wanted: int) -> Iterator[str]:
    if answer.cli_exit is not None and answer.cli_exit != wanted:
        yield f"the exit status is {answer.cli_exit}, wanted {wanted}"


def _http_status(_: World, answer: Answer, wanted: int) -> Iterator[str]:
    if answer.http_status is not None and answer.http_status != wanted:
        yield f"the HTTP status is {answer.http_status}, wanted {wanted}"


# In the order in which they are looked at, waiting before files.
_CHECKS: dict[str, Callable[[World, Answer, Any], Iterator[str]]] = {
    "error_starts": _error_starts,
    "result_has": _result_has,
    "absent": _absent,
    "not_anywhere": _not_anywhere,
    "audit": _audit,
    "ran": _ran,
    "warnings_has": _warnings_has,
    "stdout_bytes": _stdout_bytes,
    "wait_s": _wait,
    "files": _files,
    "outside_unchanged": _outside,
    "cli_exit": _cli_exit,
    "http_status": _http_status,
}

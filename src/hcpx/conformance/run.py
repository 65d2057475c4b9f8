"""`hcpx conformance DIR`: every case through each face, on a fresh store."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Literal, cast

import msgspec

from .checks import faults
from .corpus import BadCorpus, Case, Chapter, Corpus, Step, items, mapping, read_corpus
from .faces import FACES
from .world import World, installed, isolates


class Outcome(msgspec.Struct, frozen=True):
    """What one case came to on one face."""

    file: str
    name: str
    face: str
    verdict: Literal["passed", "failed", "skipped"]
    faults: tuple[str, ...] = ()


def outcomes(folder: str, faces: Sequence[str]) -> Iterator[Outcome]:
    """Run a corpus and yield what each case came to; raises `BadCorpus` for one that cannot be run.

    Where programs cannot be isolated here, the cases that need that are skipped.
    """
    corpus = read_corpus(folder)
    for chapter in corpus.chapters:
        with tempfile.TemporaryDirectory(prefix="hcpx-conformance-") as base:
            yield from _chapter(corpus, chapter, faces, base)


def _chapter(corpus: Corpus, chapter: Chapter, faces: Sequence[str], base: str) -> Iterator[Outcome]:
    """Run the cases of one file; where its packs cannot be installed, all of them fail, and no others."""
    problem, home, isolated = None, "", False
    try:
        home = installed(corpus, chapter, base)
        isolated = isolates(home)
    except BadCorpus as bad:
        problem = str(bad)
    for case in chapter.cases:
        why = problem or case.problem
        for face in faces:
            if why is not None:
                yield Outcome(case.file, case.name, face, "failed", (why,))
            elif case.needs_sandbox and not isolated:
                yield Outcome(case.file, case.name, face, "skipped", ("needs a sandbox",))
            else:
                yield _outcome(case, face, home)


def _outcome(case: Case, face: str, home: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="hcpx-case-") as folder:
        try:
            found = _faults(case, face, home, folder)
        except Exception as trouble:  # noqa: BLE001 -- whatever keeps a case from being run fails it, and no other
            found = (f"cannot be run: {type(trouble).__name__}: {trouble}",)
    return Outcome(case.file, case.name, face, "failed" if found else "passed", found)


def _faults(case: Case, face: str, home: str, folder: str) -> tuple[str, ...]:
    world = World(case, home, folder)
    try:
        return tuple(fault for step in case.steps for fault in _step(world, step, face))
    finally:
        world.close()


def _step(world: World, step: Step, face: str) -> Iterator[str]:
    env = {name: str(value) for name, value in mapping(world.case.world.get("env")).items()}
    answer = FACES[face](world, _placed(step.payload, world.outside), env)
    expect = dict(step.expect)
    if "wait_s" in expect:
        expect = {"wait_s": expect.pop("wait_s"), **expect}
    yield from faults(world, answer, expect)
    if step.approve is not None:
        approval = answer.result.get("approval")
        if not isinstance(approval, dict):
            yield "there is no approval to decide on"
            return
        taken = world.decide(str(mapping(cast("object", approval)).get("id")), step.approve)
        if taken is (step.approve.get("refused") is True):
            yield f"the decision was {'taken' if taken else 'refused'}"


def _placed(value: object, outside: str) -> object:
    """Put the path of the folder outside in the place of `$OUTSIDE`."""
    if isinstance(value, str):
        return value.replace("$OUTSIDE", outside)
    if isinstance(value, dict):
        return {key: _placed(item, outside) for key, item in mapping(cast("object", value)).items()}
    if isinstance(value, list):
        return [_placed(item, outside) for item in items(cast("object", value))]
    return value


def closing_line(found: Sequence[Outcome]) -> str:
    """Return the line that a run ends with."""
    count = {verdict: sum(one.verdict == verdict for one in found) for verdict in ("passed", "failed", "skipped")}
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    return f"{count['passed']} passed, {count['failed']} failed{skipped}"

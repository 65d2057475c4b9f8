"""Takes samples of several subjects in turns, in random order, and checks each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from random import Random


class BadSample(Exception):
    """A sample that is not what it should be: wrong answer, wrong exit status, no record in the audit."""


class Subject(Protocol):
    """Something that is measured."""

    name: str

    def sample(self) -> list[int]:
        """Run once, check what came of it, return nanoseconds: one number a call. Raises `BadSample`."""
        ...


@dataclass
class Series:
    """All samples of one subject, a list of nanoseconds for each round."""

    name: str
    rounds: list[list[int]] = field(default_factory=list[list[int]])


@dataclass
class Measured:
    """What a run gave: the series by name, and who fell out and why."""

    series: dict[str, Series]
    out: dict[str, str]


def interleave(
    subjects: Sequence[Subject], *, rounds: int, rng: Random, warm: int = 1, needed: Sequence[str] = ()
) -> Measured:
    """Let every subject run once a round, the order drawn anew each time; the `warm` first do not count.

    A bad sample of a `needed` subject ends the run; any other subject drops out with its reason.
    """
    series = {subject.name: Series(subject.name) for subject in subjects}
    out: dict[str, str] = {}
    for number in range(-warm, rounds):
        for subject in rng.sample(list(subjects), k=len(subjects)):
            if subject.name in out:
                continue
            try:
                taken = subject.sample()
            except BadSample as why:
                if subject.name in needed:
                    raise
                out[subject.name] = str(why)
                del series[subject.name]
                continue
            if number >= 0:
                series[subject.name].rounds.append(taken)
    return Measured(series, out)


def expect(good: object, what: Callable[[], str]) -> None:
    """Refuse the sample unless `good`; `what` says how it differs."""
    if not good:
        raise BadSample(what())

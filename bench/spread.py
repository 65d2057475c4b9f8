"""Medians and how far samples lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from statistics import median, quantiles

import msgspec

from bench.sampling import Series


class Spread(msgspec.Struct, frozen=True):
    """A median with its quartiles, and of how many numbers."""

    median: float
    low: float
    high: float
    count: int


def spread(numbers: Sequence[float]) -> Spread:
    """Median and quartiles of at least one number."""
    low, high = (numbers[0],) * 2 if len(numbers) == 1 else quantiles(numbers, n=4, method="inclusive")[::2]
    return Spread(float(median(numbers)), float(low), float(high), len(numbers))


def exactly(number: float) -> Spread:
    """A number that was counted, not sampled."""
    return Spread(float(number), float(number), float(number), 1)


def calls(series: Series) -> Spread:
    """Spread over every single call of a series, in nanoseconds."""
    return spread(list(chain.from_iterable(series.rounds)))


def ratio(of: Series, to: Series) -> Spread:
    """Median of one over median of the other; quartiles are those of the ratios within each round."""
    pairs = zip(of.rounds, to.rounds, strict=True)
    within = spread([median(one) / median(other) for one, other in pairs])
    return Spread(calls(of).median / calls(to).median, within.low, within.high, within.count)


def excess(of: Series, to: Series) -> Spread:
    """Median of one minus median of the other, in nanoseconds; quartiles as in `ratio`."""
    pairs = zip(of.rounds, to.rounds, strict=True)
    within = spread([median(one) - median(other) for one, other in pairs])
    return Spread(calls(of).median - calls(to).median, within.low, within.high, within.count)


def scaled(one: Spread, factor: float) -> Spread:
    """The same in another unit."""
    return Spread(one.median * factor, one.low * factor, one.high * factor, one.count)

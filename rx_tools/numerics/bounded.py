"""Intervals over items of bounded value, for claims about fixed checkpoints.

They hold for any distribution of items that are drawn independently; they say nothing about other
training seeds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Estimate and two-sided interval."""

    estimate: float
    low: float
    high: float


def clopper_pearson(successes: int, n: int, level: float) -> Bounds:
    """The exact interval of a proportion; each tail gets level / 2.

    Source: Clopper & Pearson, Biometrika 26 (1934).
    """
    from scipy.special import betaincinv

    failures, tail = n - successes, level / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures == 0 else 1 - float(betaincinv(failures, successes + 1, tail))
    return Bounds(successes / n, low, high)


def mcnemar_exact(only_first: int, only_second: int, level: float) -> Bounds:
    """The share of `only_first` among the discordant pairs, minus one half.

    Above 0 exactly where the exact conditional test rejects at `level`. Without a discordant pair
    nothing is known: [−½, ½]. Source: McNemar, Psychometrika 12 (1947).
    """
    discordant = only_first + only_second
    if discordant == 0:
        return Bounds(0.0, -0.5, 0.5)
    share = clopper_pearson(only_first, discordant, level)
    return Bounds(share.estimate - 0.5, share.low - 0.5, share.high - 0.5)


def hoeffding(values: Sequence[float], width: float, level: float) -> Bounds:
    """The interval of a mean of values that lie within a range of the given width.

    Source: Hoeffding, JASA 58 (1963), theorem 2.
    """
    n = len(values)
    mean = math.fsum(values) / n
    half = width * math.sqrt((math.log(2) - math.log(level)) / (2 * n))
    return Bounds(mean, mean - half, mean + half)


def empirical_bernstein(values: Sequence[float], width: float, level: float) -> Bounds:
    """The same with the sample variance in place of the range's worst; needs two values.

    Source: Maurer & Pontil, COLT 2009, theorem 4, with level / 2 for each side.
    """
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    log_term = math.log(4) - math.log(level)
    half = math.sqrt(2 * variance * log_term / n) + 7 * width * log_term / (3 * (n - 1))
    return Bounds(mean, mean - half, mean + half)

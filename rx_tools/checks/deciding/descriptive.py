"""Figures beside a decision that decide nothing: the interval without each seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from rx_tools.checks.deciding.criterion import CriterionResult
from rx_tools.numerics.paired_t import paired_t
from rx_tools.numerics.sums import as_double


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Mean and interval without one seed; no interval below two remaining seeds."""

    seed: int
    mean: float | None
    low: float | None
    high: float | None


def leave_one_out(criterion: CriterionResult, alpha: float) -> Iterator[LeftOut]:
    """The same interval without each seed in turn. The rule's seeds stay what they are."""
    effects = {
        seed: Fraction(value) for seed, value in criterion.contrasts.items() if value is not None
    }
    if len(effects) != criterion.n or criterion.n < 2:
        return
    for left_out in effects:
        rest = [value for seed, value in effects.items() if seed != left_out]
        mean = as_double(sum(rest, Fraction(0)) / len(rest))
        if len(rest) < 2:
            yield LeftOut(left_out, mean, None, None)
            continue
        interval = paired_t(rest, Fraction(0), alpha, criterion.k)
        ends = [None if end is None else as_double(end) for end in (interval.low, interval.high)]
        yield LeftOut(left_out, mean, ends[0], ends[1])

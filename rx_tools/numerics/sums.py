"""Sums and means of doubles without any rounding, at every scale from 5e-324 to 1.8e308."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain

UNIT_ROUNDOFF = Fraction(1, 2**53)
"""The largest relative error of one rounding to a double."""

ROOT_BITS = 256


def exact_sum(values: Sequence[float]) -> Fraction:
    """The sum of finite doubles as a rational number.

    `math.fsum` rounds once; what it rounded away is summed again until nothing is left. `parts`
    holds what was found so far, with its sign turned.
    """
    parts: list[float] = []
    try:
        while rest := math.fsum(chain(values, parts)):
            parts.append(-rest)
    except OverflowError:
        return sum(map(Fraction, values), Fraction(0))
    return -sum(map(Fraction, parts), Fraction(0))


def exact_mean(values: Sequence[float]) -> Fraction:
    """The mean of one or more finite doubles as a rational number."""
    return exact_sum(values) / len(values)


def sample_variance(values: Sequence[Fraction]) -> Fraction:
    """The variance with n − 1 in the denominator, exactly; needs two values."""
    mean = sum(values, Fraction(0)) / len(values)
    squares: Iterable[Fraction] = ((value - mean) ** 2 for value in values)
    return sum(squares, Fraction(0)) / (len(values) - 1)


def square_root(value: Fraction) -> Fraction:
    """√value of a value ≥ 0, with a relative error below 2⁻¹²⁶."""
    size = value.numerator.bit_length() - value.denominator.bit_length()
    shift = max((ROOT_BITS - size) // 2, 0)
    return Fraction(math.isqrt((value.numerator << 2 * shift) // value.denominator), 1 << shift)


def as_double(value: Fraction) -> float | None:
    """The nearest double; None where only an infinity would be nearer."""
    try:
        return float(value)
    except OverflowError:
        return None

"""What a paired t interval can be expected to say, before any seed is run.

The sample mean and the sample standard deviation of normal effects are independent, so every
probability here is an expectation over the deviation alone: with u = s/σ, u²(n − 1) is chi-square
with n − 1 degrees of freedom. `P(supported)` is the noncentral t of the textbooks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rx_tools.numerics.student_t import critical_value

NODES = 200
MOST_SEEDS = 1000
USUAL_POWER = 0.8
BISECTIONS = 80


@dataclass(frozen=True, slots=True)
class Design:
    """An interval to be: `n` seeds, level `alpha` over `comparisons` criteria, true `sd`."""

    n: int
    alpha: float
    comparisons: int
    margin: float
    sd: float

    @property
    def t(self) -> float:
        """The critical value."""
        return critical_value(self.alpha, self.n - 1, self.comparisons)

    @property
    def error(self) -> float:
        """σ / √n, in the metric's units."""
        return self.sd / math.sqrt(self.n)


def supported(design: Design, effect: float) -> float:
    """The probability that the whole interval lies above the margin, for a true effect."""
    distance, t = (effect - design.margin) / design.error, design.t
    return expectation(design.n, lambda u: normal(distance - t * u))


def below(design: Design, effect: float, mark: float) -> float:
    """The probability that the whole interval lies below a mark, for a true effect."""
    distance, t = (mark - effect) / design.error, design.t
    return expectation(design.n, lambda u: normal(distance - t * u))


def tie(design: Design, effect: float) -> float:
    """The probability that the whole interval lies within ± the margin; 0 without a band."""
    if design.margin <= 0:
        return 0.0
    t, margin, error = design.t, design.margin, design.error

    def within(u: float) -> float:
        room = margin / error - t * u
        return normal(room - effect / error) - normal(-room - effect / error)

    return expectation(design.n, within, up_to=margin / (error * t))


def smallest_effect(design: Design, power: float = USUAL_POWER) -> float:
    """The true effect that is supported with the given probability."""
    low, high = 0.0, 1.0
    while supported(design, design.margin + high * design.sd) < power:
        high *= 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if supported(design, design.margin + middle * design.sd) < power:
            low = middle
        else:
            high = middle
    return design.margin + high * design.sd


def seeds_needed(design: Design, effect: float, power: float = USUAL_POWER) -> int | None:
    """The fewest seeds that support a true effect with the given probability.

    None where the effect does not exceed the margin, or a thousand seeds do not suffice.
    """
    if not effect > design.margin:
        return None
    low, high = 1, 2
    while probability_with(design, high, effect) < power:
        low, high = high, 2 * high
        if high > MOST_SEEDS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if probability_with(design, middle, effect) < power:
            low = middle
        else:
            high = middle
    return high


def probability_with(design: Design, n: int, effect: float) -> float:
    """`supported` with another number of seeds."""
    other = Design(n, design.alpha, design.comparisons, design.margin, design.sd)
    return supported(other, effect)


def interior_choice(points: int) -> float:
    """The chance that a rate is not at an edge of its grid, if all points are equally likely."""
    return max(points - 2, 0) / points if points > 1 else 1.0


def normal(z: float) -> float:
    """The standard normal distribution function."""
    return math.erfc(-z / math.sqrt(2)) / 2


def expectation(n: int, value: Callable[[float], float], up_to: float = math.inf) -> float:
    """The mean of `value(u)` over u = s/σ of n seeds, with `value` taken as 0 above `up_to`."""
    df = n - 1
    centre, spread = math.sqrt(1 - 1 / (2 * df)), 1 / math.sqrt(2 * df)
    start = max(centre - 12 * spread, 0.0)
    stop = min(centre + 12 * spread, up_to)
    if stop <= start:
        return 0.0
    log_constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    half, middle = (stop - start) / 2, (stop + start) / 2
    total = 0.0
    for node, weight in nodes():
        u = middle + half * node
        density = math.exp(log_constant + (df - 1) * math.log(u) - df * u * u / 2)
        total += weight * density * value(u)
    return min(max(half * total, 0.0), 1.0)


@cache
def nodes() -> tuple[tuple[float, float], ...]:
    """Gauss–Legendre nodes and weights."""
    from numpy.polynomial.legendre import leggauss

    points, weights = leggauss(NODES)
    return tuple(zip(points.tolist(), weights.tolist(), strict=True))

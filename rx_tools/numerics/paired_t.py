"""The paired t interval over training seeds, in exact arithmetic but for the quantile."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rx_tools.numerics.student_t import critical_value
from rx_tools.numerics.sums import UNIT_ROUNDOFF, sample_variance, square_root

GUARD = 16 * UNIT_ROUNDOFF


@dataclass(frozen=True, slots=True)
class PairedT:
    """`mean ± t · sd / √n`; `low` and `high` are None where t is beyond the doubles.

    `rounding` is what sixteen roundings of the largest input amount to: nothing smaller than this
    can be told from rounding noise.
    """

    n: int
    mean: Fraction
    variance: Fraction
    t: float
    half_width: Fraction | None
    rounding: Fraction

    @property
    def sd(self) -> Fraction:
        """The standard deviation with n − 1, to 126 bits."""
        return square_root(self.variance)

    @property
    def se(self) -> Fraction:
        """sd / √n, to 126 bits."""
        return square_root(self.variance / self.n)

    @property
    def low(self) -> Fraction | None:
        """The lower end."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> Fraction | None:
        """The upper end."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def zero_variance(self) -> bool:
        """All contrasts are the same number."""
        return self.variance == 0

    @property
    def numerically_constant(self) -> bool:
        """The standard error is no larger than the rounding of the inputs."""
        return self.variance / self.n <= self.rounding**2


def paired_t(
    contrasts: Sequence[Fraction], magnitude: Fraction, alpha: float, comparisons: int
) -> PairedT:
    """The simultaneous two-sided 1 − alpha interval for one of `comparisons` criteria.

    `contrasts` holds one number per scheduled seed, two at least; `magnitude` is the largest
    Σ|w||m| over seeds. Bonferroni: each interval gets alpha / comparisons.
    """
    n = len(contrasts)
    variance = sample_variance(contrasts)
    t = critical_value(alpha, n - 1, comparisons)
    half_width = Fraction(t) * square_root(variance / n) if math.isfinite(t) else None
    mean = sum(contrasts, Fraction(0)) / n
    return PairedT(n, mean, variance, t, half_width, GUARD * magnitude)

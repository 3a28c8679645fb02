"""Critical values against 60-digit arithmetic, R, and closed forms."""

import math

import mpmath
import pytest

from rx_tools.numerics.student_t import critical_value


def by_mpmath(alpha, df, comparisons, near):
    """Newton's method in 60 digits on the regularized incomplete beta function."""
    with mpmath.workdps(60):
        level = mpmath.log(mpmath.mpf(alpha) / comparisons)

        def excess(log_t):
            x = df / (df + mpmath.e ** (2 * log_t))
            tail = mpmath.betainc(mpmath.mpf(df) / 2, 0.5, 0, x, regularized=True)
            return mpmath.log(tail) - level

        return mpmath.e ** mpmath.findroot(excess, mpmath.log(near))


@pytest.mark.parametrize("df", [1, 2, 3, 6, 19, 99, 999])
@pytest.mark.parametrize(
    "alpha", [1 - 1e-12, 0.99, 0.91, 0.89, 0.5, 0.05, 1e-3, 1e-12, 1e-59, 1e-61, 1e-200, 1e-300]
)
def test_twelve_digits_at_every_level(df, alpha):
    for comparisons in (1, 3):
        found = critical_value(alpha, df, comparisons)
        exact = by_mpmath(alpha, df, comparisons, found)
        assert abs(found / exact - 1) < 1e-12


def test_values_of_r():
    # R 4.2.2: qt(0.975, c(1, 2, 4, 9)), printed with 15 digits
    values = [12.7062047361747, 4.30265272974946, 2.77644510519779, 2.2621571627982]
    for df, value in zip([1, 2, 4, 9], values, strict=True):
        assert critical_value(0.05, df) == pytest.approx(value, rel=1e-13)


def test_closed_forms():
    for alpha in (0.3, 0.05, 1e-9):
        assert critical_value(alpha, 1) == pytest.approx(
            1 / math.tan(math.pi * alpha / 2), rel=1e-13
        )
        two = math.sqrt(2 / (alpha * (2 - alpha))) * (1 - alpha)
        assert critical_value(alpha, 2) == pytest.approx(two, rel=1e-12)


def test_the_smallest_level_is_finite_or_infinite_but_never_wrong():
    assert critical_value(5e-324, 1) == math.inf
    assert 1e154 < critical_value(5e-324, 2) < 1e162
    assert critical_value(5e-324, 30, 100) > critical_value(1e-300, 30)

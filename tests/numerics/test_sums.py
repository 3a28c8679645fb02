import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rx_tools.numerics.sums import as_double, exact_mean, exact_sum, sample_variance, square_root

doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(doubles, max_size=30))
def test_sums_are_those_of_rationals(values):
    assert exact_sum(values) == sum(map(Fraction, values), Fraction(0))


@pytest.mark.parametrize(
    "values",
    [
        [1e16, 1.0, -1e16],
        [5e-324] * 7,
        [1.7e308, 1.7e308, -1.7e308, 5e-324],
        [1e300, 1e-300, -1e300],
        [0.1] * 10,
        [-0.0],
    ],
)
def test_every_scale_is_exact(values):
    assert exact_mean(values) == sum(map(Fraction, values), Fraction(0)) / len(values)


def test_variance_of_a_large_offset():
    # NIST-style: 1e8 + {4, 7, 13, 16} has the variance 30
    values = [Fraction(10**8 + offset) for offset in (4, 7, 13, 16)]
    assert sample_variance(values) == 30


@given(st.fractions(min_value=0, max_denominator=10**40) | doubles.map(abs).map(Fraction))
def test_square_roots_to_126_bits(value):
    root = square_root(value)
    assert root * root <= value
    assert value == 0 or 1 - root * root / value < Fraction(1, 2**125)


def test_as_double_rounds_once_and_knows_its_limits():
    assert as_double(Fraction(1, 3)) == 1 / 3
    assert as_double(Fraction(5e-324) / 2) == 0.0
    assert as_double(Fraction(1.7e308) * 2) is None
    assert math.copysign(1, as_double(-Fraction(1.7e308))) == -1

"""Item intervals against scipy.stats, published values, and their coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from rx_tools.numerics.bounded import (
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    mcnemar_exact,
)


@pytest.mark.parametrize(("x", "n"), [(0, 10), (8, 10), (10, 10), (1, 1), (37, 500), (499, 500)])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.05 / 3])
def test_clopper_pearson_is_scipys_exact_interval(x, n, level):
    expected = stats.binomtest(x, n).proportion_ci(1 - level, "exact")
    found = clopper_pearson(x, n, level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-10)


def test_clopper_pearson_of_eight_in_ten():
    # R: binom.test(8, 10)$conf.int
    found = clopper_pearson(8, 10, 0.05)
    assert (found.low, found.high) == pytest.approx((0.4439045, 0.9747893), abs=1e-7)


@pytest.mark.parametrize(("b", "c"), [(10, 2), (8, 1), (5, 0), (6, 0), (3, 3), (2, 10), (40, 20)])
def test_mcnemar_excludes_zero_exactly_where_the_test_rejects(b, c):
    found = mcnemar_exact(b, c, 0.05)
    rejects = stats.binomtest(b, b + c, 0.5).pvalue <= 0.05
    assert (found.low > 0 or found.high < 0) == rejects


def test_mcnemar_without_a_discordant_pair_knows_nothing():
    assert (mcnemar_exact(0, 0, 0.05).low, mcnemar_exact(0, 0, 0.05).high) == (-0.5, 0.5)


def test_hoeffding_by_hand():
    found = hoeffding([0.0, 1.0] * 50, 1.0, 0.05)
    half = math.sqrt(math.log(40) / 200)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-15)


def test_empirical_bernstein_by_hand():
    values = [0.5] * 99 + [0.6]
    mean, variance = np.mean(values), np.var(values, ddof=1)
    half = math.sqrt(2 * variance * math.log(80) / 100) + 7 * math.log(80) / (3 * 99)
    found = empirical_bernstein(values, 1.0, 0.05)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), rel=1e-12)


def test_a_small_variance_narrows_bernstein_below_hoeffding():
    values = [0.5, 0.501] * 5000
    assert empirical_bernstein(values, 1.0, 0.05).high < hoeffding(values, 1.0, 0.05).high


@pytest.mark.parametrize("method", [hoeffding, empirical_bernstein])
def test_coverage_is_at_least_the_level(method):
    draws = np.random.default_rng(3).beta(0.3, 3.0, (2000, 60))
    true = 0.3 / 3.3
    covered = [
        bounds.low <= true <= bounds.high
        for row in draws
        for bounds in [method(row.tolist(), 1.0, 0.05)]
    ]
    assert np.mean(covered) >= 0.95

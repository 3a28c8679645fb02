"""Power against the noncentral t of scipy, values of R's power.t.test, and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from rx_tools.checks.deciding.power_report import power_report
from rx_tools.errors import DocumentError
from rx_tools.numerics.power import (
    Design,
    below,
    interior_choice,
    seeds_needed,
    smallest_effect,
    supported,
    tie,
)

RULE = {
    "version": 1,
    "unit": "training_seed",
    "seeds": [0, 1, 2],
    "alpha": 0.05,
    "method": "paired_t",
    "assumptions": {
        "independent_seed_effects": True,
        "identically_distributed_seed_effects": True,
        "normal_seed_effects": True,
    },
    "criteria": [{"id": "primary", "metric": "m", "weights": {"a": 1, "b": -1}, "margin": 0.02}],
}


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 50, 400])
@pytest.mark.parametrize("distance", [-1.0, 0.0, 0.3, 1.0, 3.0])
def test_supported_and_refuted_are_the_noncentral_t(n, distance):
    design = Design(n, 0.05, 1, 0.02, 0.004)
    shift = math.sqrt(n) * distance
    effect = 0.02 + distance * 0.004
    assert supported(design, effect) == pytest.approx(
        stats.nct.sf(design.t, n - 1, shift), rel=1e-8, abs=1e-12
    )
    assert below(design, effect, 0.02) == pytest.approx(
        stats.nct.sf(design.t, n - 1, -shift), rel=1e-8, abs=1e-12
    )


def test_without_an_effect_half_of_alpha_is_supported():
    for k in (1, 3):
        design = Design(3, 0.05, k, 0.02, 0.004)
        assert supported(design, 0.02) == pytest.approx(0.025 / k, rel=1e-10)


@pytest.mark.parametrize(
    ("n", "distance"), [(3, 3.26), (4, 2.13), (5, 1.68), (6, 1.43), (8, 1.16), (10, 1.00)]
)
def test_the_smallest_effect_at_eighty_percent(n, distance):
    design = Design(n, 0.05, 1, 0.02, 0.004)
    found = (smallest_effect(design) - 0.02) / 0.004
    assert found == pytest.approx(distance, abs=0.006)
    assert supported(design, smallest_effect(design)) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("effect", [3.27, 3.2, 1.0, 0.99, 0.5, 0.2])
def test_seeds_needed_are_the_fewest_by_the_noncentral_t(effect):
    needed = seeds_needed(Design(3, 0.05, 1, 0.0, 1.0), effect)

    def by_scipy(n):
        t = stats.t.isf(0.025, n - 1)
        return stats.nct.sf(t, n - 1, math.sqrt(n) * effect)

    assert by_scipy(needed) >= 0.8
    assert needed == 2 or by_scipy(needed - 1) < 0.8


def test_seeds_needed_of_the_textbooks():
    # power.t.test(delta = 0.5 or 0.2, sd = 1, power = 0.8, type = "one.sample"): 33.4 and 198.2
    design = Design(3, 0.05, 1, 0.0, 1.0)
    assert [seeds_needed(design, effect) for effect in (0.5, 0.2)] == [34, 199]


def test_no_number_of_seeds_supports_an_effect_at_the_margin():
    design = Design(3, 0.05, 1, 0.02, 0.004)
    assert seeds_needed(design, 0.02) is None
    assert seeds_needed(design, 0.0200001) is None


@pytest.mark.parametrize(
    ("n", "effect", "sd"), [(3, 0.0, 0.002), (3, 0.01, 0.003), (5, 0.0, 0.01), (2, 0.0, 0.001)]
)
def test_ties_by_simulation(n, effect, sd):
    design = Design(n, 0.05, 1, 0.02, sd)
    draws = np.random.default_rng(7).normal(effect, sd, (400_000, n))
    mean, half = draws.mean(1), design.t * draws.std(1, ddof=1) / math.sqrt(n)
    share = np.mean((mean - half >= -0.02) & (mean + half <= 0.02))
    error = math.sqrt(share * (1 - share) / len(draws)) + 1 / len(draws)
    assert abs(tie(design, effect) - share) < 5 * error


def test_there_is_no_tie_without_a_band():
    assert tie(Design(3, 0.05, 1, 0.0, 0.004), 0.0) == 0.0
    assert tie(Design(3, 0.05, 1, -0.1, 0.004), 0.0) == 0.0


def test_one_third_of_a_grid_of_three_is_inside():
    assert [interior_choice(points) for points in (1, 2, 3, 4)] == [1.0, 0.0, 1 / 3, 0.5]


def test_the_report_of_a_rule():
    (criterion,) = power_report(RULE, 0.004, effect=0.02 + 0.02, grid_sizes=(3, 3))
    assert criterion.p_supported == pytest.approx(0.97546, abs=1e-5)
    assert criterion.p_no_edge == pytest.approx(1 / 9)
    assert criterion.definitive_margin == pytest.approx(criterion.p_supported / 9, rel=1e-6)
    assert criterion.seeds_needed == 3
    assert criterion.smallest_effect == pytest.approx(0.02 + 3.26 * 0.004, abs=3e-5)
    assert power_report(RULE, {"primary": 0.004})[0].p_supported == pytest.approx(0.8)


def test_more_criteria_cost_power():
    criteria = [{**RULE["criteria"][0], "id": name} for name in ("a", "b", "c")]
    three = power_report({**RULE, "criteria": criteria}, 0.004)[0]
    assert three.smallest_effect > power_report(RULE, 0.004)[0].smallest_effect


@pytest.mark.parametrize("sd", [0, -1, math.nan, math.inf, {"other": 1.0}, "0.1"])
def test_a_deviation_that_is_none_is_refused(sd):
    with pytest.raises(DocumentError):
        power_report(RULE, sd)


def test_a_rule_that_cannot_be_applied_is_refused():
    with pytest.raises(DocumentError, match="alpha"):
        power_report({**RULE, "alpha": 2}, 0.1)
    with pytest.raises(DocumentError):
        power_report({**RULE, "seeds": [0]}, 0.1)

import math

import numpy as np
import pytest

import rx_tools
from rx_tools.numerics.tolerance import Tolerance, inconsistency, lr_scaling_error

GOOD = {
    "max_abs_error": 1e-5,
    "reference_max_abs": 1e-2,
    "relative_l2_error": 1e-3,
    "cosine_similarity": 1.0,
}


def probes(*rows):
    return [{"learning_rate": rate, "update_norm": norm} for rate, norm in rows]


def test_scaling_error_is_the_worst_deviation_from_the_first_probe():
    measured = probes((1e-4, 1e-3), (1e-3, 1.02e-2), (1e-2, 0.095))
    assert rx_tools.lr_scaling_error(measured) == pytest.approx(0.05, rel=1e-12)


def test_scaling_error_of_factors_is_that_of_the_worst_factor():
    measured = probes((1e-4, {"A": 1.0, "B": 2.0}), (1e-3, {"A": 10.0, "B": 22.0}))
    assert lr_scaling_error(measured) == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize(
    "bad",
    [
        [],
        probes((1e-4, 0.0), (1e-3, 0.0)),
        probes((1e-4, 1.0), (1e-3, math.nan)),
        probes((1e-4, 1.0), (1e-3, math.inf)),
        probes((0.0, 1.0)),
        probes((-1e-4, 1.0)),
        probes((True, 1.0)),
        probes((1e-4, "1")),
        probes((1e-4, None)),
        [{"learning_rate": 1e-4}],
        probes((1e-4, {"A": 1.0}), (1e-3, {"B": 10.0})),
    ],
)
def test_what_is_no_evidence_passes_no_tolerance(bad):
    assert not lr_scaling_error(bad) <= math.inf


def test_numpy_scalars_are_numbers():
    assert lr_scaling_error(probes((np.float32(1), np.float32(2)), (2, 4))) == 0.0


def test_the_contract_formula_accepts():
    assert Tolerance(0.0, 1e-3).accepts(GOOD)
    assert not Tolerance(0.0, 0.99e-3).accepts(GOOD)
    assert not Tolerance(1.0, 1.0, 0.999999).accepts({**GOOD, "cosine_similarity": 0.9999989})


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, True, "1", [1.0]])
def test_no_tolerance_accepts_what_is_no_number(name, value):
    assert not Tolerance(1e300, 1e300).accepts({**GOOD, name: value})


def test_no_figures_are_never_accepted():
    assert not Tolerance(1e300, 1e300).accepts({})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cosine_similarity": 0.9}, "impossible"),
        ({"cosine_similarity": -1.0}, "impossible"),
        ({"cosine_similarity": 1.1}, "outside"),
        ({"relative_l2_error": 0.0}, "zero together"),
        ({"max_abs_error": 0.0}, "zero together"),
        ({"relative_l2_error": -1e-3}, "negative"),
        ({"reference_max_abs": 0.0}, "not exercised"),
    ],
)
def test_impossible_figures_are_named(change, why):
    assert why in inconsistency({**GOOD, **change})


def test_possible_figures_are_accepted():
    assert inconsistency(GOOD) == ""
    assert inconsistency({**GOOD, "relative_l2_error": 1.5, "cosine_similarity": -0.2}) == ""


@pytest.mark.parametrize(("rate", "percent"), [(1e-4, 105), (1e-3, 11), (1e-2, 2)])
def test_blind_scale_error_of_an_orthogonal_update(rate, percent):
    """The published figures for 2048 × 32, whose largest element is about 0.096 per unit rate."""
    blind = Tolerance(1e-5, 1e-2).blind_scale_error(0.096 * rate)
    assert round(100 * blind) == percent


def test_a_zero_reference_has_no_blind_scale_error():
    assert math.isnan(Tolerance(1e-5, 1e-2).blind_scale_error(0.0))


def test_a_blind_tolerance_accepts_a_halved_update():
    top = 9.5e-6
    halved = {
        "max_abs_error": top / 2,
        "reference_max_abs": top,
        "relative_l2_error": 0.5,
        "cosine_similarity": 1.0,
    }
    tolerance = Tolerance(1e-5, 1e-2, 0.999)
    assert tolerance.blind_scale_error(top) > 1
    assert tolerance.accepts(halved)

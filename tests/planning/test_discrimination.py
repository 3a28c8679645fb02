"""Figures from the published cases: a 2048 × 32 orthogonal update under {1e-5, 1e-2}."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from rx_tools.numerics.spectrum import stable_rank
from rx_tools.planning.discrimination import (
    discrimination_advice,
    largest_of_orthogonal,
    sign_matrix_stable_rank,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def spec():
    return json.loads((FIXTURES / "exp_71911f0fb9.spec.json").read_text())


def by_path(spec):
    return {advice.json_path: advice for advice in discrimination_advice(spec)}


def test_a_blind_tolerance_is_named_with_its_figures(spec):
    place = "$.correctness_preflight.paths[0].tolerances.reference_update"
    advice = by_path(spec)[place]
    percents = [round(100 * error) for error in advice.figures["blind_scale_error"].values()]
    assert percents == pytest.approx([105, 11, 2], abs=1)
    assert "a halved update passes" in advice.message
    assert "Compare at 0.01" in advice.message
    assert place.replace("reference", "baseline") not in by_path(spec)


def test_a_list_that_both_optimizers_satisfy_is_named(spec):
    advice = by_path(spec)["$.activation_gate.checks[1]"]
    assert advice.figures == {"satisfied_by": ["adamw", "dimuon"]}
    spec["activation_gate"]["checks"][1]["one_of"] = ["DimuonParams"]
    assert "$.activation_gate.checks[1]" not in by_path(spec)


def test_a_stable_rank_range_that_adamw_passes_is_named(spec):
    advice = by_path(spec)["$.activation_gate.checks[2]"]
    assert "AdamW would pass" in advice.message
    spec["activation_gate"]["checks"][2] |= {"min": 0.9, "max": 1.05}
    assert "refuses a right optimizer" in by_path(spec)["$.activation_gate.checks[2]"].message


def test_a_stock_experiment_needs_no_advice():
    stock = json.loads((FIXTURES / "exp_9574bbb76e.spec.json").read_text())
    assert discrimination_advice(stock) == ()


def test_the_estimates_are_those_of_random_matrices():
    random = np.random.default_rng(0)
    signs = np.sign(random.standard_normal((2048, 32)))
    assert sign_matrix_stable_rank(2048, 32) == pytest.approx(stable_rank(signs, 32), rel=0.05)
    orthogonal = np.linalg.qr(random.standard_normal((2048, 32)))[0]
    assert largest_of_orthogonal(2048, 32) == pytest.approx(np.abs(orthogonal).max(), rel=0.1)


@pytest.mark.parametrize(
    "path", ["correctness_preflight", "activation_gate", "arms", "lora_rank", "optimizer"]
)
@pytest.mark.parametrize("value", [None, [], {}, "x", 0, True, {"paths": [{}], "checks": [{}]}])
def test_a_malformed_spec_never_raises(spec, path, value):
    broken = copy.deepcopy(spec)
    broken[path] = value
    discrimination_advice(broken)

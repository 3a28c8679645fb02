import math

import numpy as np
import pytest

from rx_tools.numerics.dimuon_lite import DimuonLite
from rx_tools.numerics.polar_express import polar_factor
from rx_tools.numerics.spectrum import stable_rank
from rx_tools.numerics.tolerance import lr_scaling_error
from rx_tools.numerics.updates import global_norm

RANDOM = np.random.default_rng(9)
SHAPES = {"lora_A": (32, 256), "lora_B": (512, 32)}
WEIGHTS = {name: np.zeros(shape) for name, shape in SHAPES.items()}


def gradient():
    return {name: RANDOM.standard_normal(shape) for name, shape in SHAPES.items()}


def test_the_first_step_is_the_polar_factor_of_the_first_gradient():
    optimizer, g = DimuonLite(), gradient()
    update, _ = optimizer.step(optimizer.fresh(WEIGHTS), WEIGHTS, g, 1e-3)
    for name, values in update.items():
        assert stable_rank(values, 32) > 0.7
        assert global_norm({name: values}) == pytest.approx(1e-3 * math.sqrt(32), rel=0.12)
        cosine = np.vdot(values, -polar_factor(g[name])) / np.linalg.norm(values) / math.sqrt(32)
        assert cosine > 0.99


def test_momentum_is_seeded_by_the_first_gradient_then_averaged():
    optimizer, first, second = DimuonLite(), gradient(), gradient()
    _, state = optimizer.step(optimizer.fresh(WEIGHTS), WEIGHTS, first, 1e-3)
    update, state = optimizer.step(state, WEIGHTS, second, 1e-3)
    mixed = {name: 0.9 * first[name] + 0.1 * second[name] for name in first}
    expected, _ = optimizer.step(optimizer.fresh(WEIGHTS), WEIGHTS, mixed, 1e-3)
    for name in update:
        np.testing.assert_allclose(state.average[name], mixed[name], atol=1e-15)
        np.testing.assert_allclose(update[name], expected[name], atol=1e-12)


def test_the_update_is_proportional_to_the_learning_rate():
    optimizer, g = DimuonLite(), gradient()
    probes = []
    for rate in (1e-4, 1e-3, 1e-2):
        update, _ = optimizer.step(optimizer.fresh(WEIGHTS), WEIGHTS, g, rate)
        norms = {name: global_norm({name: values}) for name, values in update.items()}
        probes.append({"learning_rate": rate, "update_norm": norms})
    assert lr_scaling_error(probes) < 1e-14


@pytest.mark.parametrize(("sign", "factor"), [(1, 0.25**0.175), (-1, 4**0.175), (0, 1.0)])
def test_the_rank_correction_is_relative_to_rank_32(sign, factor):
    matrix = RANDOM.standard_normal((64, 8))
    corrected = DimuonLite(rank_exponent_sign=sign).direction(matrix, "b")
    plain = DimuonLite(rank_exponent=0.0).direction(matrix, "b")
    np.testing.assert_allclose(corrected, factor * plain, rtol=1e-13)


def test_a_zero_gradient_gives_no_update():
    optimizer = DimuonLite()
    g = {**gradient(), "lora_A": np.zeros(SHAPES["lora_A"])}
    update, _ = optimizer.step(optimizer.fresh(WEIGHTS), WEIGHTS, g, 1e-3)
    assert not update["lora_A"].any()
    assert np.isfinite(update["lora_B"]).all()


def test_clipping_changes_the_momentum_but_not_the_first_direction():
    g = gradient()
    plain, clipping = DimuonLite(), DimuonLite(grad_clip_norm=1.0)
    unclipped, _ = plain.step(plain.fresh(WEIGHTS), WEIGHTS, g, 1e-3)
    update, state = clipping.step(clipping.fresh(WEIGHTS), WEIGHTS, g, 1e-3)
    assert global_norm(state.average) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(update["lora_B"], unclipped["lora_B"], atol=1e-8)


def test_every_assumption_is_data_and_a_change_changes_the_name():
    named = DimuonLite().assumptions
    assert named["name"] == "dimuon-lite/v1"
    assert {
        "momentum_seed", "factors", "epsilon", "rank_exponent", "rank_exponent_sign",
        "iterations", "precision",        "preconditioner", "safety", "renormalized", "nesterov",
    } <= set(named)  # fmt: skip
    assert DimuonLite(beta1=0.95, grad_clip_norm=1.0).name == "dimuon-lite/v1"
    assert DimuonLite(rank_exponent_sign=-1).name == "dimuon-lite/custom"
    with pytest.raises(ValueError, match="no matrix"):
        DimuonLite().direction(np.ones(3), "bias")

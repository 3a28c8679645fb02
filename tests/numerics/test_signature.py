"""Signatures of first updates made by the references from gradients of several structures."""

import math

import numpy as np
import pytest

from rx_tools.numerics.adamw import AdamW
from rx_tools.numerics.dimuon_lite import DimuonLite
from rx_tools.numerics.signature import signature_of

RATE = 1e-3


def gradients(rank, structured, rows=(64, 256, 2048)):
    random = np.random.default_rng(3)
    found = {}
    for number, count in enumerate(rows):
        values = random.standard_normal((count, rank))
        if structured:
            left, right = random.standard_normal((count, 40)), random.standard_normal((40, rank))
            values = left * np.geomspace(1, 1e-3, 40) @ right
        found[f"layer{number}.lora_B"] = values * 1e-2
    return found


def signature(optimizer, rank, structured):
    gradient = gradients(rank, structured)
    zeros = {name: np.zeros(values.shape) for name, values in gradient.items()}
    update, _ = optimizer.step(optimizer.fresh(zeros), zeros, gradient, RATE)
    return signature_of(update, RATE, rank)


@pytest.mark.parametrize("rank", [8, 32])
@pytest.mark.parametrize("structured", [False, True])
def test_both_optimizers_are_recognized(rank, structured):
    for layer in signature(AdamW(), rank, structured).layers.values():
        assert layer.like_adamw
        assert not layer.like_matrix_sign
    for layer in signature(DimuonLite(), rank, structured).layers.values():
        assert layer.like_matrix_sign
        assert not layer.like_adamw


def test_the_published_figures():
    """Polar Express about 0.80 and norm ratio 1; AdamW ratio √rows; its rank misleads."""
    dimuon, adamw = signature(DimuonLite(), 32, True), signature(AdamW(), 32, False)
    assert 0.70 <= dimuon.stable_rank_mean <= 0.86
    assert dimuon.stable_rank_min <= dimuon.stable_rank_mean
    assert dimuon.layers["layer2.lora_B"].norm_ratio == pytest.approx(1.0, abs=0.12)
    assert adamw.layers["layer2.lora_B"].norm_ratio == pytest.approx(math.sqrt(2048), rel=1e-3)
    assert adamw.layers["layer2.lora_B"].stable_rank > 0.6


def test_a_tail_of_gradients_below_epsilon_is_still_adamw():
    gradient = gradients(32, True)
    for values in gradient.values():
        values[: len(values) // 2] *= 1e-9
    zeros = {name: np.zeros(values.shape) for name, values in gradient.items()}
    update, _ = AdamW().step(AdamW().fresh(zeros), zeros, gradient, RATE)
    layers = signature_of(update, RATE, 32).layers.values()
    assert all(layer.like_adamw and layer.variation > 0.2 for layer in layers)


def test_what_did_not_move_is_named_and_has_no_figures():
    nothing = signature_of({"b": np.zeros((4, 2))}, RATE, 2)
    assert nothing.unmoved == ("b",)
    assert set(nothing.as_dict()) == {"layers", "unmoved"}
    assert math.isnan(nothing.stable_rank_mean)
    assert math.isnan(nothing.stable_rank_min)

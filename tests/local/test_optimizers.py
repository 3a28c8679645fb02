"""The engine's optimizers against torch and against what their names promise."""

import numpy as np
import pytest
import torch

from rx_tools.local import optimizers
from rx_tools.local.dimuon import orthogonalize
from rx_tools.local.lora import LoraConfig
from rx_tools.local.models import LiveModel
from rx_tools.local.refusals import OperationFailedError

SHAPES = {"a": (8, 64), "b": (96, 8), "c": (5, 5)}
SETTINGS = {
    "learning_rate": 3e-3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8,
    "weight_decay": 0.1, "grad_clip_norm": 0.0,
}  # fmt: skip


def draw(seed: int):
    source = np.random.default_rng(seed)
    return {name: source.standard_normal(shape, np.float32) for name, shape in SHAPES.items()}


def test_adamw_equals_torch_over_fifty_steps():
    weights = draw(0)
    parameters = {name: torch.tensor(weight.copy()) for name, weight in weights.items()}
    theirs = torch.optim.AdamW(
        parameters.values(), lr=3e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1
    )
    ours = optimizers.fresh({"type": "adamw"})
    for step in range(1, 51):
        gradients = draw(step)
        weights = ours.update(weights, gradients, SETTINGS)
        for name, parameter in parameters.items():
            parameter.grad = torch.tensor(gradients[name])
        theirs.step()
    for name, parameter in parameters.items():
        assert np.abs(weights[name] - parameter.numpy()).max() <= 1e-6


def test_dimuon_steps_are_nearly_orthogonal_and_scale_with_the_rate():
    source = np.random.default_rng(1)
    weights = {"b": np.zeros((256, 32), np.float32)}
    gradients = {"b": source.standard_normal((256, 32), np.float32)}
    moved = {}
    for rate in (1e-3, 1e-1):
        optimizer = optimizers.fresh({"type": "dimuon"})
        settings = {"learning_rate": rate, "beta1": 0.9, "grad_clip_norm": 0.0}
        moved[rate] = -optimizer.update(weights, gradients, settings)["b"] / np.float32(rate)
    values = np.linalg.svd(moved[1e-3], compute_uv=False)
    assert values.min() >= 0.84 and values.max() <= 1.13
    assert np.abs(moved[1e-3] - moved[1e-1]).max() <= 1e-5
    left, _, right = np.linalg.svd(gradients["b"], full_matrices=False)
    assert (moved[1e-3] * (left @ right)).sum() / np.linalg.norm(moved[1e-3]) >= 5.6


def test_dimuon_seeds_its_momentum_from_the_first_gradient():
    weights, first, second = draw(0), draw(1), draw(2)
    optimizer = optimizers.fresh({"type": "dimuon"})
    settings = {"learning_rate": 1.0, "beta1": 0.9, "grad_clip_norm": 0.0}
    optimizer.update(weights, first, settings)
    optimizer.update(weights, second, settings)
    for name in weights:
        expected = 0.9 * first[name] + 0.1 * second[name]
        assert np.allclose(optimizer.moments[f"{name}.momentum"], expected, rtol=1e-6, atol=1e-7)


def test_the_direction_of_nothing_is_nothing():
    assert not orthogonalize(np.zeros((4, 9), np.float32)).any()


def test_clipping_scales_the_whole_gradient_down_to_the_norm():
    gradients = draw(3)
    norm = optimizers.global_norm(gradients)
    assert norm == pytest.approx(
        np.sqrt(sum((g.astype(float) ** 2).sum() for g in gradients.values()))
    )
    assert optimizers.global_norm(optimizers.clipped(gradients, norm, 1.5)) == pytest.approx(1.5)
    for limit in (0.0, -1.0, norm + 1):
        assert optimizers.clipped(gradients, norm, limit) is gradients


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
def test_a_gradient_that_is_not_finite_changes_neither_weights_nor_state(poison):
    adapter = draw(4)
    optimizer = optimizers.fresh({"type": "adamw"})
    model = LiveModel("m", "s", "b", LoraConfig(8), adapter, {"type": "adamw"}, optimizer)
    model.accumulate(draw(5) | {"c": np.full((5, 5), poison, np.float32)})
    assert model.step(SETTINGS) == {"update_successful:mean": 0.0}
    assert model.adapter is adapter
    assert (optimizer.step, optimizer.moments) == (0, {})
    with pytest.raises(OperationFailedError, match="without a forward_backward"):
        model.step(SETTINGS)


@pytest.mark.parametrize(("kind", "asked", "words"), [
    ("adamw", {"momentum": 1}, "no setting 'momentum'"),
    ("adamw", {"learning_rate": float("nan")}, "finite"),
    ("adamw", {"learning_rate": -1e-3}, "negative"),
    ("adamw", {"beta2": 1.0}, r"beta2 must be in \[0, 1\)"),
    ("adamw", {"eps": True}, "must be a number"),
    ("dimuon", {"learning_rate": 1e-3, "weight_decay": 0.1}, "no setting 'weight_decay'"),
    ("dimuon", {}, "learning_rate must be a finite number"),
])  # fmt: skip
def test_settings_are_refused_and_never_ignored(kind, asked, words):
    with pytest.raises(OperationFailedError, match=words):
        optimizers.checked_settings(kind, asked)


@pytest.mark.parametrize("config", [
    {"type": "sgd"}, {}, {"type": "dimuon", "version": 2}, {"type": "adamw", "beta1": 0.9}, "adamw",
])  # fmt: skip
def test_unknown_optimizers_are_refused(config):
    with pytest.raises(OperationFailedError):
        optimizers.checked_config(config)

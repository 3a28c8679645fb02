"""The peer is `torch.optim.AdamW` in float64."""

import numpy as np
import pytest
import torch

from rx_tools.numerics.adamw import AdamW, gradient_of_step
from rx_tools.numerics.updates import global_norm

SHAPES = {"a": (5, 3), "b": (4,)}


def gradients(steps, scale=1.0):
    random = np.random.default_rng(2)
    return [
        {name: scale * random.standard_normal(shape) for name, shape in SHAPES.items()}
        for _ in range(steps)
    ]


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("clip", [0.0, 0.5])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_fifty_steps_equal_torch(decay, clip, scale):
    random = np.random.default_rng(1)
    values = {name: random.standard_normal(shape) for name, shape in SHAPES.items()}
    theirs = {name: torch.nn.Parameter(torch.tensor(v)) for name, v in values.items()}
    peer = torch.optim.AdamW(
        theirs.values(), lr=3e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=decay
    )
    ours = AdamW(0.9, 0.95, 1e-8, decay, clip)
    state = ours.fresh(values)
    for gradient in gradients(50, scale):
        update, state = ours.step(state, values, gradient, 3e-3)
        values = {name: values[name] + update[name] for name in values}
        for name, parameter in theirs.items():
            parameter.grad = torch.tensor(gradient[name])
        if clip > 0 and global_norm(gradient) > clip:
            norm = torch.sqrt(sum((p.grad**2).sum() for p in theirs.values()))
            for parameter in theirs.values():
                parameter.grad *= clip / norm
        peer.step()
        for name, parameter in theirs.items():
            np.testing.assert_allclose(values[name], parameter.detach().numpy(), 0, 1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 10.0])
def test_one_large_eps_step_reveals_the_gradient(scale):
    (gradient,) = gradients(1, scale)
    zeros = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    eps = 1e3
    optimizer = AdamW(eps=eps)
    update, _ = optimizer.step(optimizer.fresh(zeros), zeros, gradient, eps)
    stored = {name: values.astype(np.float32) for name, values in update.items()}
    found = gradient_of_step({n: v.astype(np.float64) for n, v in stored.items()}, eps, eps)
    for name, values in gradient.items():
        np.testing.assert_allclose(found[name], values, rtol=3e-7)


def test_nothing_it_is_given_changes():
    (gradient,) = gradients(1)
    before = {name: values.copy() for name, values in gradient.items()}
    optimizer = AdamW(grad_clip_norm=0.1)
    optimizer.step(optimizer.fresh(gradient), gradient, gradient, 1.0)
    assert all(np.array_equal(before[name], gradient[name]) for name in before)

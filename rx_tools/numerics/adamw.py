"""AdamW in float64: decoupled weight decay, bias-corrected moments, epsilon outside the root.

Loshchilov and Hutter, arXiv 1711.05101, as `torch.optim.AdamW` computes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rx_tools.numerics.updates import Tensors, clipped

DEFAULTS = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.0, "grad_clip_norm": 0.0}


@dataclass(frozen=True, slots=True)
class Moments:
    """Steps taken, and both running averages before bias correction."""

    step: int
    first: Tensors
    second: Tensors


@dataclass(frozen=True, slots=True)
class AdamW:
    """The reference `adamw/v1`. `grad_clip_norm` ≤ 0 disables the global clipping."""

    beta1: float = DEFAULTS["beta1"]
    beta2: float = DEFAULTS["beta2"]
    eps: float = DEFAULTS["eps"]
    weight_decay: float = DEFAULTS["weight_decay"]
    grad_clip_norm: float = DEFAULTS["grad_clip_norm"]

    @property
    def name(self) -> str:
        """`adamw/v1`."""
        return "adamw/v1"

    @property
    def assumptions(self) -> Mapping[str, Any]:
        """Hyperparameters, and the choices that the name AdamW leaves open."""
        return {
            "name": self.name,
            "beta1": self.beta1,
            "beta2": self.beta2,
            "eps": self.eps,
            "eps_position": "added to the root of the corrected second moment",
            "weight_decay": self.weight_decay,
            "weight_decay_kind": "decoupled, scaled by the learning rate",
            "grad_clip_norm": self.grad_clip_norm,
            "grad_clip_kind": "global norm over all tensors, before the moments",
            "bias_correction": True,
            "precision": "float64",
        }

    def fresh(self, parameters: Tensors) -> Moments:
        """Zero moments."""
        zeros = {name: np.zeros(values.shape) for name, values in parameters.items()}
        return Moments(0, zeros, zeros)

    def step(
        self, state: Moments, parameters: Tensors, gradient: Tensors, learning_rate: float
    ) -> tuple[Tensors, Moments]:
        """The update and the next moments."""
        gradient = clipped(gradient, self.grad_clip_norm)
        count = state.step + 1
        first = {
            name: self.beta1 * state.first[name] + (1 - self.beta1) * g
            for name, g in gradient.items()
        }
        second = {
            name: self.beta2 * state.second[name] + (1 - self.beta2) * np.square(g)
            for name, g in gradient.items()
        }
        of_first, of_second = 1 - self.beta1**count, 1 - self.beta2**count
        updates = {}
        for name, values in parameters.items():
            root = np.sqrt(second[name] / of_second) + self.eps
            decay = self.weight_decay * values
            updates[name] = -learning_rate * (first[name] / of_first / root + decay)
        return updates, Moments(count, first, second)


def gradient_of_step(update: Tensors, learning_rate: float, eps: float) -> Tensors:
    """The gradient that one AdamW step from zero moments, without decay or clipping, reveals.

    The step moves a weight by −lr·g / (|g| + eps), so with u = −update / lr the gradient is
    u·eps / (1 − |u|). With `eps` far above |g| only the rounding of the stored type is lost.
    """
    gradient = {}
    for name, values in update.items():
        share = -values / learning_rate
        gradient[name] = share * eps / (1 - np.abs(share))
    return gradient

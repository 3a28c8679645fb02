"""The reference `dimuon-lite/v1`: momentum, its matrix sign by Polar Express, nothing else.

The algorithm of the service is not public. Each choice below that no public source settles is a
named field, so that a reader sees what a comparison with this reference took for granted, and
another pinned reference can take its place (a file of updates, `runner/probes/references.py`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.numerics.polar_express import EPSILON, LOWER_BOUND, SAFETY, polar_express
from rx_tools.numerics.updates import Tensors, clipped

DEFAULTS = {"beta1": 0.9, "grad_clip_norm": 0.0}


@dataclass(frozen=True, slots=True)
class Momentum:
    """Steps taken, and the running average of the gradient."""

    step: int
    average: Tensors


@dataclass(frozen=True, slots=True)
class DimuonLite:
    """Every assumption of the reference. The defaults are version 1; others need another name.

    The direction of one LoRA matrix is polar_express(m), of Frobenius norm about √rank; the
    update is −lr · (rank / `rank_reference`) ** (`rank_exponent_sign` · `rank_exponent`) ·
    direction. At rank 32 that factor is 1, whichever sign is true.
    """

    beta1: float = DEFAULTS["beta1"]
    grad_clip_norm: float = DEFAULTS["grad_clip_norm"]
    momentum: str = "m = beta1 * m + (1 - beta1) * gradient"
    momentum_seed: str = "first gradient"
    nesterov: bool = False
    factors: str = "lora_A and lora_B alike, each matrix by itself"
    preconditioner: str = "none"
    weight_decay: float = 0.0
    matrix_sign: str = "Polar Express, arXiv 2505.16932"
    lower_bound: float = LOWER_BOUND
    iterations: int = 5
    safety: float = SAFETY
    epsilon: float = EPSILON
    rank_reference: int = 32
    rank_exponent: float = 0.175
    rank_exponent_sign: int = 1
    renormalized: bool = False
    precision: str = "float64"

    @property
    def name(self) -> str:
        """`dimuon-lite/v1`, or `dimuon-lite/custom` when an assumption was changed."""
        versioned = DimuonLite(beta1=self.beta1, grad_clip_norm=self.grad_clip_norm)
        return "dimuon-lite/v1" if self == versioned else "dimuon-lite/custom"

    @property
    def assumptions(self) -> Mapping[str, Any]:
        """All fields as plain JSON, with the name."""
        return {"name": self.name, **asdict(self)}

    def fresh(self, parameters: Tensors) -> Momentum:
        """No momentum yet."""
        return Momentum(0, {})

    def step(
        self, state: Momentum, parameters: Tensors, gradient: Tensors, learning_rate: float
    ) -> tuple[Tensors, Momentum]:
        """The update and the next momentum; raises `ValueError` for a tensor that is no matrix."""
        gradient = clipped(gradient, self.grad_clip_norm)
        average = {name: self.averaged(state, name, g) for name, g in gradient.items()}
        updates = {
            name: -learning_rate * self.direction(average[name], name) for name in parameters
        }
        return updates, Momentum(state.step + 1, average)

    def averaged(
        self, state: Momentum, name: str, gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The momentum after one more gradient; the first one is taken whole."""
        if state.step == 0:
            return gradient
        return np.add(self.beta1 * state.average[name], (1 - self.beta1) * gradient)

    def direction(self, average: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        """The direction of one matrix, before the learning rate."""
        if average.ndim != 2:
            raise ValueError(f"tensor {name!r} is no matrix")
        rank = min(average.shape)
        exponent = self.rank_exponent_sign * self.rank_exponent
        factor: float = (rank / self.rank_reference) ** exponent
        sign = polar_express(
            average, iterations=self.iterations, safety=self.safety, epsilon=self.epsilon
        )
        return factor * sign

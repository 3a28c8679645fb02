"""What the first update of LoRA B says about the optimizer that made it.

From B = 0, AdamW moves every weight by about one learning rate, whatever the gradient: the sizes
are alike (their coefficient of variation is small) and ‖dB‖_F is about lr·√(rows·rank). A matrix
sign has singular values near one: ‖dB‖_F is about lr·√rank, and the sizes follow the gradient.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.numerics.parity import root_of_squares
from rx_tools.numerics.spectrum import stable_rank

SIGN_NORM = (0.4, 2.2)
"""‖dB‖_F / (lr·√rank) of a matrix sign: 0.84 to 1.125 times a rank correction."""

ADAM_LARGEST = (0.9, 1.02)
"""The largest |dB| / lr of a first AdamW step: 1 unless every gradient is below epsilon."""

ADAM_VARIATION = 0.2
"""The coefficient of variation of |dB| that a first AdamW step stays below, epsilon apart."""


@dataclass(frozen=True, slots=True)
class LayerSignature:
    """One matrix. `norm_ratio` is ‖dB‖_F / (lr·√rank), `largest` is max |dB| / lr."""

    stable_rank: float
    norm_ratio: float
    largest: float
    variation: float

    @property
    def like_matrix_sign(self) -> bool:
        """Whether a matrix sign explains the update."""
        return SIGN_NORM[0] <= self.norm_ratio <= SIGN_NORM[1] and not self.like_adamw

    @property
    def like_adamw(self) -> bool:
        """Whether a first AdamW step explains it."""
        low, high = ADAM_LARGEST
        alike = self.variation <= ADAM_VARIATION or self.norm_ratio > SIGN_NORM[1]
        return low <= self.largest <= high and alike


@dataclass(frozen=True, slots=True)
class Signature:
    """All matrices that moved, and the names of those that did not."""

    layers: Mapping[str, LayerSignature]
    unmoved: tuple[str, ...]

    @property
    def stable_rank_mean(self) -> float:
        """The activation metric `dimuon_B_update_normalized_stable_rank_step1`."""
        return mean([layer.stable_rank for layer in self.layers.values()])

    @property
    def stable_rank_min(self) -> float:
        """The lowest over the matrices; NaN when nothing moved."""
        return min((layer.stable_rank for layer in self.layers.values()), default=math.nan)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, without any figure where nothing moved."""
        if not self.layers:
            return {"layers": {}, "unmoved": list(self.unmoved)}
        return {
            "stable_rank_mean": self.stable_rank_mean,
            "stable_rank_min": self.stable_rank_min,
            "norm_ratio_mean": mean([layer.norm_ratio for layer in self.layers.values()]),
            "variation_mean": mean([layer.variation for layer in self.layers.values()]),
            "like_adamw": sum(layer.like_adamw for layer in self.layers.values()),
            "like_matrix_sign": sum(layer.like_matrix_sign for layer in self.layers.values()),
            "layers": {name: asdict(layer) for name, layer in self.layers.items()},
            "unmoved": list(self.unmoved),
        }


def mean(values: list[float]) -> float:
    """The mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def signature_of(updates: Mapping[str, NDArray[Any]], learning_rate: float, rank: int) -> Signature:
    """The signature of the first updates of LoRA B, by matrix name (rows × rank)."""
    moved = {name: np.asarray(values, np.float64) for name, values in updates.items()}
    layers = {
        name: layer_of(values, learning_rate, rank)
        for name, values in sorted(moved.items())
        if values.any()
    }
    return Signature(layers, tuple(name for name in sorted(moved) if name not in layers))


def layer_of(update: NDArray[np.float64], learning_rate: float, rank: int) -> LayerSignature:
    """The figures of one matrix that moved."""
    sizes = np.abs(update) / learning_rate
    return LayerSignature(
        stable_rank=stable_rank(update, rank),
        norm_ratio=root_of_squares(update) / (learning_rate * math.sqrt(rank)),
        largest=float(sizes.max()),
        variation=float(sizes.std() / sizes.mean()),
    )

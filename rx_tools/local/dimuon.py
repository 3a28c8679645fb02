"""dimuon-lite/v1: this project's reading of Dimuon, never a statement about a hosted service.

Its assumptions, by name (`docs/service.md` states them for readers):
momentum    m₁ = g₁, then m ← β₁ m + (1 − β₁) g: seeded from the first gradient, no second moment
direction   five Polar Express iterations (arXiv 2505.16932, lower bound 1e-3, safety 1.01) on each
            LoRA factor, A and B alike; no row or column preconditioner; Frobenius norm about √rank
rank        the learning rate is multiplied by (rank / 32) ** 0.175
epsilon     1e-7 in the normalization; precision float32; no weight decay
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
RANK_EXPONENT = 0.175
REFERENCE_RANK = 32
SAFETY = 1.01
EPSILON = 1e-7
POLAR_EXPRESS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
)


@dataclass(slots=True)
class Dimuon:
    """Momentum by tensor, float32, which the first gradient seeds, and the steps taken."""

    type: ClassVar[str] = "dimuon"
    defaults: ClassVar[Mapping[str, float]] = {
        "learning_rate": float("nan"),
        "beta1": 0.9,
        "grad_clip_norm": 0.0,
    }

    step: int = 0
    moments: dict[str, Array] = field(default_factory=dict)
    last: Mapping[str, float] | None = None

    def update(
        self, adapter: Mapping[str, Array], gradients: Mapping[str, Array],
        settings: Mapping[str, float],
    ) -> dict[str, Array]:  # fmt: skip
        """The adapter after one step; the momentum advances."""
        self.step += 1
        beta = settings["beta1"]
        updated = {}
        for name, weight in adapter.items():
            before, gradient = self.moments.get(f"{name}.momentum"), gradients[name]
            momentum = (
                gradient.copy()
                if before is None
                else before * np.float32(beta) + gradient * np.float32(1 - beta)
            )
            self.moments[f"{name}.momentum"] = momentum
            rank = min(weight.shape)
            rate = settings["learning_rate"] * (rank / REFERENCE_RANK) ** RANK_EXPONENT
            updated[name] = weight - np.float32(rate) * orthogonalize(momentum)
        return updated


def orthogonalize(matrix: Array) -> Array:
    """Approximate polar factor: singular values move to about 1 (0.84–1.12), zero stays zero."""
    tall = matrix.shape[0] > matrix.shape[1]
    wide = matrix.T if tall else matrix
    norm = float(np.linalg.norm(wide))
    x = wide / np.float32(SAFETY * norm + EPSILON)
    for a, b, c in POLAR_EXPRESS:
        gram = x @ x.T
        cubic, quintic = np.float32(b / SAFETY**3), np.float32(c / SAFETY**5)
        x = np.float32(a / SAFETY) * x + (cubic * gram + quintic * (gram @ gram)) @ x
    return x.T if tall else x

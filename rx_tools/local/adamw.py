"""AdamW with decoupled weight decay and bias correction (Loshchilov and Hutter, 2019)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(slots=True)
class AdamW:
    """First and second moments by tensor, float32, zero before the first of the steps taken."""

    type: ClassVar[str] = "adamw"
    defaults: ClassVar[Mapping[str, float]] = {
        "learning_rate": 1e-4,
        "beta1": 0.9,
        "beta2": 0.95,
        "eps": 1e-12,
        "weight_decay": 0.0,
        "grad_clip_norm": 0.0,
    }

    step: int = 0
    moments: dict[str, Array] = field(default_factory=dict)
    last: Mapping[str, float] | None = None

    def update(
        self, adapter: Mapping[str, Array], gradients: Mapping[str, Array],
        settings: Mapping[str, float],
    ) -> dict[str, Array]:  # fmt: skip
        """The adapter after one step; the moments advance."""
        self.step += 1
        beta1, beta2 = settings["beta1"], settings["beta2"]
        rate = settings["learning_rate"]
        decay = np.float32(1 - rate * settings["weight_decay"])
        size = np.float32(rate / (1 - beta1**self.step))
        root = np.float32((1 - beta2**self.step) ** 0.5)
        updated = {}
        for name, weight in adapter.items():
            gradient = gradients[name]
            first = self._moment(f"{name}.first", gradient, beta1)
            second = self._moment(f"{name}.second", gradient * gradient, beta2)
            denominator = np.sqrt(second) / root + np.float32(settings["eps"])
            change = np.multiply(size, first / denominator)
            updated[name] = np.subtract(weight * decay, change)
        return updated

    def _moment(self, name: str, value: Array, beta: float) -> Array:
        before = self.moments.get(name)
        fresh = value * np.float32(1 - beta)
        after = fresh if before is None else before * np.float32(beta) + fresh
        self.moments[name] = after
        return after

"""A live model: an adapter, its accumulated gradient, and its optimizer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rx_tools.local import optimizers
from rx_tools.local.lora import Adapter, LoraConfig
from rx_tools.local.optimizers import Optimizer
from rx_tools.local.refusals import OperationFailedError

Array = NDArray[np.float32]


@dataclass(slots=True)
class LiveModel:
    """Everything that an operation may change, by one worker thread only."""

    model_id: str
    session_id: str
    base_name: str
    lora: LoraConfig
    adapter: Adapter
    optimizer_config: Mapping[str, object]
    optimizer: Optimizer
    gradients: Adapter = field(default_factory=dict)
    steps: int = 0
    """Optimizer steps asked of this live model, skipped ones included."""

    def accumulate(self, gradients: Adapter) -> None:
        """Add one request's gradients to what the next step will use."""
        if not self.gradients:
            self.gradients = gradients
            return
        for name, gradient in gradients.items():
            self.gradients[name] += gradient

    def step(self, settings: Mapping[str, float]) -> dict[str, float]:
        """One optimizer step and its metrics; a gradient that is not finite skips the update."""
        if not self.gradients:
            raise OperationFailedError("optim_step without a forward_backward before it")
        gradients, self.gradients = self.gradients, {}
        self.steps += 1
        self.optimizer.last = dict(settings)
        norm = optimizers.global_norm(gradients)
        if not np.isfinite(norm):
            return {"update_successful:mean": 0.0}
        kept = optimizers.clipped(gradients, norm, settings["grad_clip_norm"])
        self.adapter = self.optimizer.update(self.adapter, kept, settings)
        return {"update_successful:mean": 1.0, "grad_norm:mean": norm}

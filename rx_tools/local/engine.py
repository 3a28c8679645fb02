"""One request's computation: log-probabilities, the summed loss, and LoRA gradients.

Deterministic bit for bit for the same request on one machine; other groupings of the same examples
move results by rounding only (below 1e-5 relative).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rx_tools.local import lora
from rx_tools.local.base import BaseModel
from rx_tools.local.batch import Example, Group, groups
from rx_tools.local.lora import Adapter, LoraConfig
from rx_tools.local.losses import LOSSES, Scored, Settings
from rx_tools.local.shape import UNEMBED
from rx_tools.local.transformer import Transformer
from rx_tools.local.unembed import Positions, unembed

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`logprobs[i]` belongs to the i-th example; `gradients` is empty after a forward pass."""

    logprobs: tuple[Array, ...]
    loss: float
    gradients: Adapter


class Engine:
    """Computes with one base model; adapters are handed in with each request."""

    def __init__(self, base: BaseModel) -> None:
        self.base = base

    def effective(self, config: LoraConfig, adapter: Mapping[str, Array]) -> dict[str, Array]:
        """The weights of base and adapter together."""
        return lora.effective(self.base, config, adapter)

    def run(
        self, config: LoraConfig, adapter: Mapping[str, Array], examples: Sequence[Example],
        loss: str = "cross_entropy", settings: Settings | None = None, *, backward: bool,
    ) -> Outcome:  # fmt: skip
        """Score `examples`; with `backward`, also the gradient of the summed loss."""
        weights = self.effective(config, adapter)
        work = _Work(self, config, weights, loss=loss, settings=settings or {}, backward=backward)
        logprobs: list[Array] = [np.empty(0, np.float32)] * len(examples)
        total = 0.0
        for group in groups(examples):
            scored, lost = work.group(group, [examples[index] for index in group.members])
            total += lost
            for index, begin, end in zip(
                group.members, group.bounds, group.bounds[1:], strict=False
            ):
                logprobs[index] = scored[begin:end]
        gradients = lora.pull_back(config, adapter, work.gradients)
        return Outcome(tuple(logprobs), total, gradients)


class _Work:
    """The state of one request: gradients of whole matrices, added up group by group."""

    def __init__(
        self, engine: Engine, config: LoraConfig, weights: dict[str, Array], *,
        loss: str, settings: Settings, backward: bool,
    ) -> None:  # fmt: skip
        self.transformer = Transformer(engine.base.shape, weights)
        self.weights, self.backward = weights, backward
        self.rule, self.settings = LOSSES[loss], settings
        targets = config.targets(engine.base.shape) if backward else ()
        self.gradients = {name: np.zeros_like(weights[f"{name}.weight"]) for name in targets}

    def group(self, group: Group, examples: Sequence[Example]) -> tuple[Array, float]:
        trace = self.transformer.forward(group.tokens)
        inputs = {
            name: np.concatenate([each.inputs[name] for each in examples])
            for name in self.rule.needs
        }
        targets = np.concatenate([each.targets for each in examples])
        positions = Positions(trace.hidden[group.rows], targets, inputs)
        weight = self.weights[f"{UNEMBED}.weight"]
        done = unembed(weight, positions, self._score, backward=self.backward)
        if done.d_hidden is not None and done.d_weight is not None:
            self._add(UNEMBED, done.d_weight)
            upstream = np.zeros_like(trace.hidden)
            upstream[group.rows] = done.d_hidden
            self.transformer.backward(trace, upstream, self._learn)
        return done.logprobs, float(done.losses.sum(dtype=np.float64))

    def _score(self, logprobs: Array, inputs: Mapping[str, Array]) -> Scored:
        return self.rule.apply(logprobs, inputs, self.settings)

    def _learn(self, name: str, upstream: Array, entry: Array) -> None:
        if name in self.gradients:
            self.gradients[name] += upstream.T @ entry

    def _add(self, name: str, gradient: Array) -> None:
        if name in self.gradients:
            self.gradients[name] += gradient

"""The bench that every probe works on: throw-away models, and logprobs with their noise."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rx_tools.errors import UnverifiedError
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    Datum,
    ForwardResult,
    Model,
    ModelConfig,
    OptimizerConfig,
    TrainingService,
)

Logprobs: TypeAlias = NDArray[np.float64]
"""Logprobs of all counted tokens of a batch, in order."""

REPEATS = 4
"""Forwards on each side of a comparison: enough to see the noise of the service."""

RESOLUTION = 2e-6
"""What float32 logprobs cannot resolve, as a root mean square in nats."""

NOISE_FACTOR = 3.0
"""A movement counts beyond this many times the largest distance between equal forwards."""

SEEN_FACTOR = 3.0
"""A movement is well seen beyond this many times the limit."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A service, the model and optimizer under test, a fixed batch, and a private folder."""

    service: TrainingService
    config: ModelConfig
    batch: Sequence[Datum]
    folder: Path

    @contextmanager
    def model(self, optimizer: OptimizerConfig | None = None) -> Iterator[Model]:
        """A fresh model, released at once when the block ends."""
        model = self.service.create(self.configured(optimizer))
        try:
            yield model
        finally:
            model.release()

    @contextmanager
    def restored(
        self, uri: CheckpointUri, *, with_optimizer: bool, optimizer: OptimizerConfig | None = None
    ) -> Iterator[Model]:
        """A model that starts from a saved state, released at once when the block ends."""
        config = self.configured(optimizer)
        model, _ = self.service.create_from_state(config, uri, with_optimizer=with_optimizer)
        try:
            yield model
        finally:
            model.release()

    def configured(self, optimizer: OptimizerConfig | None) -> ModelConfig:
        """The configuration, with another optimizer where one is given."""
        return self.config if optimizer is None else replace(self.config, optimizer=optimizer)

    def score(self, model: Model, repeats: int = REPEATS) -> list[Logprobs]:
        """The batch's logprobs, several times; all forwards are in flight at once."""
        pending = [model.forward(self.batch) for _ in range(repeats)]
        return [counted(self.batch, each.result()) for each in pending]

    def step(
        self, model: Model, learning_rate: float, *, optimizer: OptimizerConfig | None = None,
        batch: Sequence[Datum] | None = None,
    ) -> None:  # fmt: skip
        """One gradient and one update of the optimizer under test, or of another one.

        Raises `UnverifiedError` when the server skipped the update: nothing follows from it then.
        """
        gradient = model.forward_backward(self.batch if batch is None else batch)
        update = model.optim_step(optimizer or self.config.optimizer, learning_rate)
        gradient.result()
        if update.result().successful is False:
            raise UnverifiedError("the server skipped the step: a gradient was not finite")


def counted(batch: Sequence[Datum], result: ForwardResult) -> Logprobs:
    """The logprobs of the tokens whose weight is above zero, as one flat array."""
    kept = [
        values.astype(np.float64)[datum.weights > 0]
        for datum, values in zip(batch, result.logprobs, strict=True)
    ]
    return np.concatenate(kept) if kept else np.zeros(0)


@dataclass(frozen=True, slots=True)
class Movement:
    """How far logprobs moved between two groups of forwards, against the noise within them.

    All three are root mean squares in nats; `vector` is the mean movement of each token.
    """

    distance: float
    noise: float
    vector: Logprobs

    @property
    def limit(self) -> float:
        """What noise alone may look like."""
        return NOISE_FACTOR * self.noise + RESOLUTION

    @property
    def within_noise(self) -> bool:
        """Whether nothing moved, as far as the noise lets one see; false for NaN."""
        return self.distance <= self.limit

    @property
    def well_seen(self) -> bool:
        """Whether it moved far beyond the noise; false for NaN."""
        return self.distance >= SEEN_FACTOR * self.limit


def movement(before: Sequence[Logprobs], after: Sequence[Logprobs]) -> Movement:
    """The movement from one group of equal forwards to another."""
    vector = np.mean(np.stack(after), axis=0) - np.mean(np.stack(before), axis=0)
    return Movement(rms(vector), max(noise(before), noise(after)), vector)


def noise(group: Sequence[Logprobs]) -> float:
    """The largest distance between two forwards that should be equal."""
    return max((rms(left - right) for left, right in combinations(group, 2)), default=math.nan)


def rms(values: Logprobs) -> float:
    """The root mean square; NaN of nothing."""
    return math.sqrt(float(np.mean(np.square(values)))) if values.size else math.nan

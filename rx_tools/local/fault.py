"""What a fault can touch: every hook of the service, each a no-op here."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.optimizers import Optimizer

Array = NDArray[np.float32]
Config = Mapping[str, object]


class Fault:
    """One way in which a service misbehaves, under its name in the catalogue."""

    name: ClassVar[str]

    def __init__(self, argument: float) -> None:
        self.argument = argument

    def before_answer(self, path: str) -> None:
        """Before any request is looked at, in its own thread."""

    def on_submit(self, path: str) -> None:
        """Before an operation of the protocol (creation, training, saving) is queued."""

    def on_operation(self, session_id: str) -> bool:
        """Whether the session is to be evicted before this operation of it."""
        return False

    def on_create(self, seed: int | None) -> None:
        """Inside a creation, before it is done."""

    def stalls_creation(self) -> bool:
        """Whether creations stay pending for ever."""
        return False

    def created(self, config: Config) -> Config:
        """The optimizer that a creation really makes."""
        return config

    def restored(self, config: Config) -> Config:
        """The optimizer that a creation from a checkpoint really makes."""
        return config

    def restored_state(self, saved: Optimizer, cold: Optimizer) -> Optimizer:
        """The state that a restore really leaves behind."""
        del cold
        return saved

    def swallows_parameters(self) -> bool:
        """Whether parameters of another optimizer are taken without a word."""
        return False

    def hides_optimizer(self) -> bool:
        """Whether get_info says nothing of the optimizer."""
        return False

    def hides_observation(self) -> bool:
        """Whether the optimizer cannot be observed."""
        return False

    def settings(self, asked: Mapping[str, float]) -> Mapping[str, float]:
        """The settings that an optimizer step really uses."""
        return asked

    def gradients(self, step: int, gradients: dict[str, Array]) -> dict[str, Array]:
        """The gradient that the model's `step`-th optimizer step (from 1) really sees."""
        del step
        return gradients

    def after_step(self) -> bool:
        """After an optimizer step, before its answer: whether all live models are lost."""
        return False

    def logprobs(self, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        """The log-probabilities that are really answered."""
        return arrays

    def exported(self, files: dict[str, bytes]) -> dict[str, bytes]:
        """The files that an export really holds."""
        return files

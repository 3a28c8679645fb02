"""What a reference optimizer is: from state and gradient to an update, in float64."""

import math
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rx_tools.numerics.parity import root_of_squares

Tensors: TypeAlias = Mapping[str, NDArray[np.float64]]
"""Parameters, gradients or updates by tensor name."""

State = TypeVar("State")


class ReferenceOptimizer(Protocol, Generic[State]):
    """An optimizer whose every assumption is named. Pure: nothing it is given changes."""

    @property
    def name(self) -> str:
        """Its name and version, such as `adamw/v1`."""
        ...

    @property
    def assumptions(self) -> Mapping[str, Any]:
        """What it takes for granted, as plain JSON."""
        ...

    def fresh(self, parameters: Tensors) -> State:
        """The state before the first step."""
        ...

    def step(
        self, state: State, parameters: Tensors, gradient: Tensors, learning_rate: float
    ) -> tuple[Tensors, State]:
        """The update, to be added to the parameters, and the next state."""
        ...


def global_norm(tensors: Tensors) -> float:
    """√ of the sum of all squares; NaN where an element is not finite."""
    return math.hypot(*(root_of_squares(values) for values in tensors.values()))


def clipped(gradient: Tensors, limit: float) -> Tensors:
    """The gradient scaled down to a global norm of `limit`; a limit of 0 or below does nothing."""
    norm = global_norm(gradient)
    if limit <= 0 or norm <= limit:
        return gradient
    return {name: values * (limit / norm) for name, values in gradient.items()}


def difference(after: Mapping[str, NDArray[Any]], before: Mapping[str, NDArray[Any]]) -> Tensors:
    """`after − before` in float64; raises `ValueError` where names or shapes differ."""
    if set(after) != set(before):
        raise ValueError(f"tensor names differ: {sorted(set(after) ^ set(before))[:3]}")
    if wrong := [name for name in after if after[name].shape != before[name].shape]:
        raise ValueError(f"tensor {wrong[0]!r} changed its shape")
    return {
        name: values.astype(np.float64) - before[name].astype(np.float64)
        for name, values in after.items()
    }

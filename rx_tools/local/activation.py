"""The activation of Qwen3's MLP."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def sigmoid_of(x: Array) -> Array:
    """The logistic function, without overflow."""
    half = np.float32(0.5)
    out: Array = np.tanh(x * half)
    out += np.float32(1)
    out *= half
    return out


def swish(x: Array) -> Array:
    """`x · sigmoid(x)`."""
    out = sigmoid_of(x)
    out *= x
    return out

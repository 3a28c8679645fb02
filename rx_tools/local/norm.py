"""Root-mean-square normalization and its gradient towards the input."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def normalize(x: Array, weight: Array, eps: float) -> tuple[Array, Array]:
    """`x / rms(x) * weight` over the last axis, and `1 / rms(x)` (last axis kept as 1)."""
    mean_square = np.einsum("...i,...i->...", x, x)[..., None] / np.float32(x.shape[-1])
    inverse = 1 / np.sqrt(mean_square + np.float32(eps))
    return x * inverse * weight, inverse


def normalize_back(upstream: Array, x: Array, weight: Array, inverse: Array) -> Array:
    """The gradient towards `x`; `inverse` as `normalize` returned it."""
    scaled = upstream * weight
    along = np.einsum("...i,...i->...", scaled, x)[..., None] / np.float32(x.shape[-1])
    scaled -= x * (along * inverse * inverse)
    scaled *= inverse
    return scaled

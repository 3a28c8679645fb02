"""The spectrum of an update: how many directions it really has."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def singular_values(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """Singular values in descending order, float64, of a matrix with finite elements.

    From the eigenvalues of the smaller Gram matrix of the matrix divided by its largest element.
    Exact to rounding for the large ones; those below 1e-8 of the largest are noise.
    """
    values = np.asarray(matrix, dtype=np.float64)
    top = float(np.abs(values).max())
    if top == 0.0:
        return np.zeros(min(values.shape))
    unit = values / top
    gram = unit.T @ unit if unit.shape[0] >= unit.shape[1] else unit @ unit.T
    eigenvalues = np.linalg.eigvalsh(gram)[::-1]
    singular: NDArray[np.float64] = np.sqrt(np.maximum(eigenvalues, 0.0)) * top
    return singular


def stable_rank(matrix: object, rank: int) -> float:
    """‖M‖_F² / (‖M‖₂² · rank): 1 when all `rank` directions have one length.

    The spectral norm is exact (a power iteration would underestimate it). NaN, which no range
    accepts, for a zero, empty, non-finite, boolean or not two-dimensional matrix and for a rank
    below 1.

    Example: `stable_rank(numpy.eye(4), 4) == 1.0`
    """
    values = np.asarray(matrix)
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "fiu" or not rank >= 1:
        return math.nan
    if not np.isfinite(values).all():
        return math.nan
    singular = singular_values(values)
    if not singular[0] > 0:
        return math.nan
    return float(np.square(singular / singular[0]).sum()) / rank

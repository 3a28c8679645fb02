"""Polar Express: the polar factor of a matrix by five odd polynomials, without an SVD.

Amsel, Persson, Musco and Gower, arXiv 2505.16932: p(x) = a·x + b·x³ + c·x⁵ per iteration, minimax
on singular values from 1e-3 to 1. Other tables in circulation must not be mixed in.
"""

import math

import numpy as np
from numpy.typing import NDArray

LOWER_BOUND = 1e-3
SAFETY = 1.01
EPSILON = 1e-7

TABLE = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
)
"""Rows (a, b, c) as published, before the safety factor."""


def safe(row: tuple[float, float, float], safety: float) -> tuple[float, float, float]:
    """The row of p(x / safety): no rounding can push a singular value past the upper bound."""
    a, b, c = row
    return a / safety, b / safety**3, c / safety**5


def polar_express(
    matrix: NDArray[np.float64],
    *,
    iterations: int = 5,
    safety: float = SAFETY,
    epsilon: float = EPSILON,
) -> NDArray[np.float64]:
    """About the polar factor of `matrix`, same shape; singular values land in 0.84 to 1.125.

    That holds for singular values from 1e-3 to 1 of the Frobenius norm, at five iterations. A
    zero matrix stays zero. At most five iterations; raises `ValueError` beyond the table.
    """
    if not 0 <= iterations <= len(TABLE):
        raise ValueError(f"the table has {len(TABLE)} rows, not {iterations}")
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / (safety * frobenius(x) + epsilon)
    for row in TABLE[:iterations]:
        a, b, c = safe(row, safety)
        gram = x @ x.T
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.T if tall else x


def frobenius(matrix: NDArray[np.float64]) -> float:
    """‖matrix‖_F in float64."""
    return math.sqrt(float(np.square(matrix).sum()))


def polar_factor(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exact polar factor U·Vᵀ by SVD, to compare with."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    factor: NDArray[np.float64] = left @ right
    return factor

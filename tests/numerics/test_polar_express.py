"""The table against the minimax problem it solves; the iteration against an SVD."""

import math

import numpy as np
import pytest

from rx_tools.numerics.polar_express import SAFETY, TABLE, polar_express, polar_factor, safe

CUSHION = 0.02407327424182761
"""Lower bounds below this share of the upper one are replaced by it, as the paper does."""


def minimax_quintic(lower, upper):
    """The odd quintic closest to 1 on [lower, upper]: Remez exchange on four points."""
    inner, outer = (3 * lower + upper) / 4, (lower + 3 * upper) / 4
    for _ in range(100):
        points = np.array([lower, inner, outer, upper])
        system = np.stack([points, points**3, points**5, [1, -1, 1, -1]], axis=1)
        a, b, c, _ = np.linalg.solve(system, np.ones(4))
        root = math.sqrt(9 * b**2 - 20 * a * c)
        inner, outer = (math.sqrt((-3 * b + sign * root) / (10 * c)) for sign in (-1, 1))
    return a, b, c


def derived_table(lower, rows):
    upper, table = 1.0, []
    for _ in range(rows):
        row = minimax_quintic(max(lower, CUSHION * upper), upper)
        if CUSHION * upper > lower:
            ends = [
                sum(k * x**p for k, p in zip(row, (1, 3, 5), strict=True)) for x in (lower, upper)
            ]
            row = tuple(k * 2 / sum(ends) for k in row)
        table.append(row)
        lower = sum(k * lower**p for k, p in zip(row, (1, 3, 5), strict=True))
        upper = 2 - lower
    return table


def test_the_table_solves_the_minimax_problem():
    np.testing.assert_allclose(derived_table(1e-3, 5), TABLE, rtol=1e-6)


def test_the_first_row_is_the_published_one():
    assert TABLE[0] == (8.28721201814563, -23.595886519098837, 17.300387312530933)


def test_a_safe_row_is_the_polynomial_of_a_smaller_argument():
    x = 0.7
    value = sum(k * x**p for k, p in zip(safe(TABLE[0], SAFETY), (1, 3, 5), strict=True))
    expected = sum(k * (x / SAFETY) ** p for k, p in zip(TABLE[0], (1, 3, 5), strict=True))
    assert value == pytest.approx(expected, rel=1e-14)


def with_spectrum(singular, rows, seed=0):
    random = np.random.default_rng(seed)
    left = np.linalg.qr(random.standard_normal((rows, len(singular))))[0]
    right = np.linalg.qr(random.standard_normal((len(singular), len(singular))))[0]
    return left * singular @ right.T


@pytest.mark.parametrize("transposed", [False, True])
def test_singular_values_land_near_one_with_the_singular_vectors_kept(transposed):
    singular = np.geomspace(1.2e-3, 0.9, 16)
    singular = singular / np.linalg.norm(singular)
    assert singular.min() > 1e-3
    matrix = with_spectrum(singular, 200)
    matrix = matrix.T if transposed else matrix
    result = polar_express(matrix)
    landed = np.linalg.svd(result, compute_uv=False)
    assert 0.84 <= landed.min() <= landed.max() <= 1.125
    exact = polar_factor(matrix)
    overlap = exact.T @ result if not transposed else exact @ result.T
    np.testing.assert_allclose(overlap, overlap.T, atol=1e-10)


def test_the_iteration_is_its_scalar_polynomials_on_the_singular_values():
    singular = np.array([0.9, 0.3, 0.01])
    matrix = with_spectrum(singular, 20)
    values = singular / (SAFETY * np.linalg.norm(singular) + 1e-7)
    for row in TABLE:
        a, b, c = safe(row, SAFETY)
        values = a * values + b * values**3 + c * values**5
    landed = np.linalg.svd(polar_express(matrix), compute_uv=False)
    np.testing.assert_allclose(np.sort(landed), np.sort(values), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e6])
def test_scale_does_not_matter(scale):
    matrix = np.random.default_rng(4).standard_normal((30, 8))
    np.testing.assert_allclose(polar_express(matrix * scale), polar_express(matrix), atol=1e-5)


def test_zero_stays_zero_and_the_table_ends():
    assert not polar_express(np.zeros((4, 2))).any()
    with pytest.raises(ValueError, match="5 rows"):
        polar_express(np.eye(2), iterations=6)

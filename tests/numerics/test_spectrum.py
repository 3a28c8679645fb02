import math

import numpy as np
import pytest

import rx_tools
from rx_tools.numerics.spectrum import singular_values, stable_rank


def orthogonal(rows, columns, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((rows, columns)))[0]


def test_an_orthogonal_update_uses_every_direction():
    assert rx_tools.stable_rank(orthogonal(2048, 32), 32) == pytest.approx(1.0, abs=1e-12)


def test_one_direction_is_one_over_rank():
    assert stable_rank(np.outer(np.arange(1.0, 9), np.ones(4)), 4) == pytest.approx(0.25)


def test_the_spectral_norm_is_exact_where_a_power_iteration_is_not():
    spectrum = np.r_[1.0, np.full(31, 0.999)]
    matrix = orthogonal(256, 32) * spectrum @ orthogonal(32, 32, 1).T
    expected = np.square(spectrum).sum() / 32
    assert stable_rank(matrix, 32) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-25, 1e20, 1e300])
def test_scale_does_not_matter(scale):
    matrix = np.random.default_rng(3).standard_normal((40, 8))
    assert stable_rank(matrix * scale, 8) == pytest.approx(stable_rank(matrix, 8), rel=1e-12)
    assert stable_rank(matrix.T, 8) == pytest.approx(stable_rank(matrix, 8), rel=1e-12)


def test_singular_values_are_those_of_an_svd():
    matrix = np.random.default_rng(5).standard_normal((30, 7))
    assert singular_values(matrix) == pytest.approx(np.linalg.svd(matrix, compute_uv=False))


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((4, 4)),
        np.full((4, 4), math.nan),
        np.full((4, 4), math.inf),
        np.ones((4, 4), bool),
        np.ones(4),
        np.ones((0, 4)),
        np.array([["1"]]),
    ],
)
def test_what_is_no_update_lies_in_no_range(bad):
    assert not 0 <= stable_rank(bad, 4) <= math.inf


def test_rank_must_be_positive():
    assert math.isnan(stable_rank(np.eye(4), 0))

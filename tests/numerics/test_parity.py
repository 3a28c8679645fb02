"""Right values come from 60-digit arithmetic (mpmath) or from the definition by hand."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import rx_tools
from rx_tools.numerics.parity import CHUNK, parity_errors, root_of_squares
from rx_tools.numerics.scaled import unhalved
from rx_tools.numerics.tolerance import inconsistency

FIGURES = {"max_abs_error", "reference_max_abs", "relative_l2_error", "cosine_similarity"}


def exact(actual, reference):
    """The four figures in 60-digit arithmetic."""
    with mpmath.workdps(60):
        left = [mpmath.mpf(float(x)) for x in np.ravel(actual)]
        right = [mpmath.mpf(float(x)) for x in np.ravel(reference)]
        gaps = [x - y for x, y in zip(left, right, strict=True)]
        norm = [mpmath.sqrt(mpmath.fsum(x * x for x in each)) for each in (left, right, gaps)]
        dot = mpmath.fsum(x * y for x, y in zip(left, right, strict=True))
        return {
            "max_abs_error": float(max(map(abs, gaps))),
            "reference_max_abs": float(max(map(abs, right))),
            "relative_l2_error": float(norm[2] / norm[1]),
            "cosine_similarity": float(dot / norm[0] / norm[1]),
        }


def test_by_hand():
    errors = rx_tools.parity_errors([3.0, 4.0], [3.0, 5.0])
    assert errors.status == "measured"
    assert dict(errors) == {
        "max_abs_error": 1.0,
        "reference_max_abs": 5.0,
        "relative_l2_error": pytest.approx(1 / math.sqrt(34), rel=1e-15),
        "cosine_similarity": pytest.approx(29 / 5 / math.sqrt(34), rel=1e-15),
    }


@pytest.mark.parametrize("scale", [1e20, 1.0, 1e-25, 1e300, 1e-300, 5e-324 * 1e4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_against_sixty_digits_at_every_scale(scale, dtype):
    if dtype is np.float32 and not 1e-30 < scale < 1e30:
        scale = 1e-30
    random = np.random.default_rng(7)
    reference = (random.standard_normal(5000) * scale).astype(dtype)
    actual = (reference * (1 + 1e-3 * random.standard_normal(5000))).astype(dtype)
    errors = parity_errors(actual, reference)
    for name, value in exact(actual, reference).items():
        assert errors[name] == pytest.approx(value, rel=1e-13), name


def test_values_of_very_different_scales_in_different_chunks():
    reference = np.full(3 * CHUNK, 1e-200)
    reference[CHUNK : 2 * CHUNK] = 1e200
    actual = reference * 1.25
    errors = parity_errors(actual, reference)
    assert errors["relative_l2_error"] == pytest.approx(0.25, rel=1e-12)
    assert errors["cosine_similarity"] == pytest.approx(1.0, rel=1e-12)
    assert errors.norm_ratio == pytest.approx(1.25, rel=1e-12)


def test_fifty_million_elements_do_not_drift():
    pattern = np.array([1.0, 2.0, -3.0, 0.1, 1e-3], dtype=np.float32)
    moved = np.array([1.0, 2.5, -3.0, 0.1, 1e-3], dtype=np.float32)
    reference, actual = np.tile(pattern, 10_000_000), np.tile(moved, 10_000_000)
    errors = parity_errors(actual, reference)
    for name, value in exact(moved, pattern).items():
        assert errors[name] == pytest.approx(value, rel=1e-12), name


@given(
    hnp.arrays(np.float16, st.integers(1, 40), elements={"allow_nan": False}),
    st.integers(0, 2**32 - 1),
)
def test_figures_are_never_impossible(reference, seed):
    noise = np.random.default_rng(seed).standard_normal(reference.size).astype(np.float16)
    errors = parity_errors(noise, reference)
    if errors.status == "measured":
        assert set(errors) == FIGURES
        assert inconsistency(errors) == ""


ONE = np.ones(3)
BAD = {
    "NaN": ([1.0, math.nan, 1.0], ONE, "NaN"),
    "infinity": (ONE, [1.0, math.inf, 1.0], "infinity"),
    "empty": ([], [], "empty"),
    "no tensors": ({}, {}, "no tensors"),
    "shapes": (ONE, np.ones((3, 1)), "shapes differ"),
    "names": ({"a": ONE}, {"b": ONE}, "names differ"),
    "zero reference": (ONE, np.zeros(3), "not exercised"),
    "zero actual": (np.zeros(3), ONE, "not exercised"),
    "booleans": (np.ones(3, bool), ONE, "no numbers"),
    "a boolean in a list": ([True, 1.0, 1.0], ONE, "no numbers"),
    "text": (["1", "2", "3"], ONE, "no exact float64"),
    "null": ([None, 1.0, 1.0], ONE, "no exact float64"),
    "ragged": ([[1.0], [1.0, 2.0]], ONE, "not an array"),
    "complex": (ONE * 1j, ONE, "no exact float64"),
    "huge integers": ([2**60 + 1, 1, 1], ONE, "no exact float64"),
    "overflow": ([1e308, 1.0], [-1e308, 1.0], "overflows"),
    "overflowing ratio": ([1e300, 1.0], [1e-300, 1e-300], "overflows"),
    "masked": (np.ma.array(ONE, mask=[0, 1, 0]), ONE, "masked"),
    "one of two": ({"a": ONE, "b": ONE * 0}, {"a": ONE, "b": ONE}, "b: the actual"),
}


@pytest.mark.parametrize(("actual", "reference", "why"), BAD.values(), ids=BAD)
def test_bad_input_gives_a_reason_and_no_figures(actual, reference, why):
    errors = parity_errors(actual, reference)
    assert errors.status == "failed"
    assert why in errors.reason
    assert not errors.measured
    assert dict(errors) == errors.as_dict() == {"status": "failed", "reason": errors.reason}


def test_tensors_are_compared_one_by_one_and_pooled():
    reference = {"a": np.ones(4), "b": np.full(2, 10.0)}
    actual = {"a": np.ones(4) * 2, "b": np.full(2, 10.0)}
    errors = parity_errors(actual, reference)
    assert errors.tensors["a"]["relative_l2_error"] == 1.0
    assert errors.tensors["b"]["relative_l2_error"] == 0.0
    assert errors["relative_l2_error"] == pytest.approx(math.sqrt(4 / 204), rel=1e-15)
    assert errors["reference_max_abs"] == 10.0


def test_layout_and_type_do_not_matter():
    reference = np.arange(12, dtype=np.float64).reshape(3, 4)
    same = parity_errors(np.asfortranarray(reference).astype(">f4"), reference)
    assert same["max_abs_error"] == 0.0
    assert same["cosine_similarity"] == 1.0
    assert parity_errors([[1, 2]], np.array([[1.0, 2.0]]))["max_abs_error"] == 0.0


def test_every_half_precision_number_is_widened_exactly():
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = bits[np.isfinite(bits)]
    widened = unhalved(finite, np.empty(1 << 16, np.int32))
    assert widened.dtype == np.float32
    assert np.array_equal(widened, finite.astype(np.float32))
    assert np.array_equal(np.signbit(widened), np.signbit(finite))
    same = parity_errors(finite, finite.astype(np.float64))
    assert same["max_abs_error"] == 0.0


def test_no_half_precision_number_that_is_not_finite_is_measured():
    bits = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    one = np.ones(1, np.float16)
    for strange in bits[~np.isfinite(bits)]:
        values = np.array([strange])
        assert "actual holds" in parity_errors(values, one)["reason"]
        assert "reference holds" in parity_errors(one, values)["reason"]


def test_torch_tensors_of_any_floating_type():
    import torch

    tensor = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    assert parity_errors(tensor, [1.0, 2.0])["max_abs_error"] == 0.0
    assert parity_errors(torch.tensor([True, False]), [1.0, 0.0]).status == "failed"


@pytest.mark.parametrize("scale", [1e20, 1e-25, 1.0])
def test_a_norm_in_single_precision_neither_overflows_nor_vanishes(scale):
    assert root_of_squares(np.full(10_000, scale, np.float32)) == pytest.approx(
        100 * float(np.float32(scale)), rel=1e-13
    )
    assert math.isnan(root_of_squares(np.array([1.0, math.inf])))

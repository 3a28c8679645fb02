"""Sums of products that neither overflow nor vanish: chunk sums, each with a power of two."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]

ROW = 8192
"""Elements per inner product: short enough for its rounding to stay below 1e-13."""

SAFE_EXPONENT = 400
"""Squares of values within 2^±400 are normal doubles, so nothing needs scaling."""

SIGN_AND_MAGNITUDE = np.uint32(0x8FFFE000).view(np.int32)
"""Where a float16 that was sign-extended and shifted by 13 bits has its own bits."""

REBIAS = np.float32(2.0**112)
"""2^(127 − 15), the ratio of the two formats' exponent biases."""

SMALLEST_MOVED, SMALLEST_HALF = np.int32(1 << 13).view(np.float32), np.float32(2.0**-24)
"""The smallest float16 before and after `REBIAS`; zero where subnormals are flushed."""

BEYOND_HALF = 2.0**16
"""Above every finite float16."""


@dataclass(slots=True)
class ScaledSum:
    """A sum of `value · 2^exponent`, added exactly whatever the exponents are."""

    parts: list[tuple[int, float]] = field(default_factory=list)

    def add(self, exponent: int, value: float) -> None:
        """Add one part."""
        if value != 0.0:
            self.parts.append((exponent, value))

    def extend(self, other: "ScaledSum") -> None:
        """Add all parts of another sum."""
        self.parts.extend(other.parts)

    def total(self) -> tuple[int, float]:
        """Exponent and value of the sum; `(0, 0.0)` when nothing was added."""
        top = max((exponent for exponent, _ in self.parts), default=0)
        return top, math.fsum(math.ldexp(value, exponent - top) for exponent, value in self.parts)


def exponent_of(largest: float) -> int:
    """The power of two to divide by before squaring: zero wherever squares are safe."""
    if largest == 0.0:
        return 0
    exponent = math.frexp(largest)[1]
    return 0 if abs(exponent) <= SAFE_EXPONENT else exponent


def scaled(values: Float64s, exponent: int) -> Float64s:
    """`values · 2^−exponent`, the same array where the exponent is zero."""
    return values if exponent == 0 else np.ldexp(values, -exponent)


def unhalved(values: NDArray[Any], space: NDArray[np.int32]) -> NDArray[Any]:
    """float16 values as float32, many times faster than numpy converts them; others unchanged.

    The bits are moved to where float32 has them, and a power of two mends the exponent's bias.
    What is no finite float16 comes out at `beyond(values)` or above, whatever its sign, or as NaN.
    `space` holds at least as many elements and carries the answer until the next call.
    """
    if values.dtype != np.float16:
        return values
    if SMALLEST_MOVED * REBIAS != SMALLEST_HALF:
        return values.astype(np.float32)
    bits = space[: values.size]
    bits[:] = values.view(np.int16)
    bits <<= 13
    bits &= SIGN_AND_MAGNITUDE
    widened: NDArray[np.float32] = bits.view(np.float32)
    widened *= REBIAS
    return widened


def beyond(values: NDArray[Any]) -> float:
    """The magnitude that every finite element, after `unhalved`, is smaller than."""
    return BEYOND_HALF if values.dtype == np.float16 else math.inf


def inner(left: Float64s, right: Float64s) -> float:
    """The inner product of two flat arrays, rows summed exactly."""
    whole = left.size - left.size % ROW
    rows = np.vecdot(left[:whole].reshape(-1, ROW), right[:whole].reshape(-1, ROW))
    return math.fsum([*rows.tolist(), float(np.vdot(left[whole:], right[whole:]))])


def ratio_of_roots(above: tuple[int, float], below: tuple[int, float]) -> float:
    """√(above / below) of two totals; infinite where a double cannot hold it."""
    try:
        return math.ldexp(math.sqrt(above[1] / below[1]), (above[0] - below[0]) // 2)
    except OverflowError:
        return math.inf


def root(total: tuple[int, float]) -> float:
    """√total; infinite where a double cannot hold it. Exponents of squares are even."""
    try:
        return math.ldexp(math.sqrt(total[1]), total[0] // 2)
    except OverflowError:
        return math.inf

"""How far an update is from its reference: four figures, measured in float64.

Every element is cast to float64 first, which is exact for bfloat16, float16 and float32. Each
chunk is passed over twice: finiteness and maxima, then scaled sums; chunk sums are added exactly.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rx_tools.numerics.scaled import (
    Float64s,
    ScaledSum,
    beyond,
    exponent_of,
    inner,
    ratio_of_roots,
    root,
    scaled,
    unhalved,
)
from rx_tools.numerics.sources import NotATensorError, TensorSource, sources_of

CHUNK = 1 << 15
"""Elements per chunk: small enough for every buffer to stay in the processor's cache."""

MEASURED = "measured"
FAILED = "failed"


@dataclass(frozen=True, slots=True, eq=False)
class ParityErrors(Mapping[str, Any]):
    """The four figures of the contract as a mapping, or `status` and `reason` without any figure.

    Keys: `max_abs_error`, `reference_max_abs`, `relative_l2_error`, `cosine_similarity`; where
    they could not be measured `status` and `reason` instead. The attribute `status` is `measured`
    or `failed`, `measured` says the same as a boolean. `tensors` holds the same for
    every tensor of a named comparison; the mapping itself is pooled over all of them, and failed
    as soon as one of them failed. `norm_ratio` is ‖actual‖ / ‖reference‖.
    """

    status: str
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    size: int = 0
    norm_ratio: float = math.nan
    tensors: Mapping[str, "ParityErrors"] = field(default_factory=dict)

    @property
    def measured(self) -> bool:
        """Whether there are figures."""
        return self.status == MEASURED

    @property
    def _items(self) -> Mapping[str, Any]:
        return self.metrics if self.measured else {"status": self.status, "reason": self.reason}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON: the status, and the figures or the reason."""
        return {"status": self.status, **self._items}


@dataclass(slots=True)
class Workspace:
    """Buffers that are used for every chunk: fresh ones would cost four times the time."""

    actual_bits: NDArray[np.int32] = field(default_factory=lambda: np.empty(CHUNK, np.int32))
    reference_bits: NDArray[np.int32] = field(default_factory=lambda: np.empty(CHUNK, np.int32))
    actual: Float64s = field(default_factory=lambda: np.empty(CHUNK))
    reference: Float64s = field(default_factory=lambda: np.empty(CHUNK))
    difference: Float64s = field(default_factory=lambda: np.empty(CHUNK))

    def fill(self, actual: NDArray[Any], reference: NDArray[Any]) -> tuple[Float64s, ...]:
        """Both chunks in float64 and their difference, valid until the next call."""
        left, right = self.actual[: actual.size], self.reference[: actual.size]
        left[:], right[:] = actual, reference
        with np.errstate(over="ignore"):
            return left, right, np.subtract(left, right, out=self.difference[: actual.size])


@dataclass(slots=True)
class PairSums:
    """What is known of a pair of tensors after some chunks."""

    size: int = 0
    largest_difference: float = 0.0
    largest_reference: float = 0.0
    actual: ScaledSum = field(default_factory=ScaledSum)
    reference: ScaledSum = field(default_factory=ScaledSum)
    difference: ScaledSum = field(default_factory=ScaledSum)
    dot: ScaledSum = field(default_factory=ScaledSum)

    def add(self, actual: NDArray[Any], reference: NDArray[Any], space: Workspace) -> str:
        """Take in one chunk of each; the answer is a complaint, or empty."""
        limits = beyond(actual), beyond(reference)
        actual = unhalved(actual, space.actual_bits)
        reference = unhalved(reference, space.reference_bits)
        largest_actual, largest_reference = largest_of(actual), largest_of(reference)
        if not largest_actual < limits[0]:
            return "actual holds a NaN or an infinity"
        if not largest_reference < limits[1]:
            return "reference holds a NaN or an infinity"
        left, right, difference = space.fill(actual, reference)
        largest_difference = largest_of(difference)
        if not math.isfinite(largest_difference):
            return "the difference overflows"
        self.size += left.size
        self.largest_difference = max(self.largest_difference, largest_difference)
        self.largest_reference = max(self.largest_reference, largest_reference)
        tops = (largest_actual, largest_reference, largest_difference)
        self.add_sums(left, right, difference, tops)
        return ""

    def add_sums(
        self, left: Float64s, right: Float64s, gap: Float64s, tops: tuple[float, float, float]
    ) -> None:
        """The second pass: squares and the inner product, scaled by powers of two."""
        of_left, of_right, of_gap = map(exponent_of, tops)
        left, right, gap = scaled(left, of_left), scaled(right, of_right), scaled(gap, of_gap)
        self.actual.add(2 * of_left, inner(left, left))
        self.reference.add(2 * of_right, inner(right, right))
        self.difference.add(2 * of_gap, inner(gap, gap))
        self.dot.add(of_left + of_right, inner(left, right))

    def pool(self, other: "PairSums") -> None:
        """Add what is known of another pair."""
        self.size += other.size
        self.largest_difference = max(self.largest_difference, other.largest_difference)
        self.largest_reference = max(self.largest_reference, other.largest_reference)
        self.actual.extend(other.actual)
        self.reference.extend(other.reference)
        self.difference.extend(other.difference)
        self.dot.extend(other.dot)

    def errors(self) -> ParityErrors:
        """The four figures, or why they are undefined."""
        if self.size == 0:
            return failed("empty tensors")
        if self.largest_reference == 0.0:
            return failed("the reference is zero: the path was not exercised")
        actual, reference = self.actual.total(), self.reference.total()
        if actual[1] == 0.0:
            return failed("the actual update is zero: the path was not exercised")
        relative = ratio_of_roots(self.difference.total(), reference)
        if not math.isfinite(relative):
            return failed("the relative error overflows")
        metrics = {
            "max_abs_error": self.largest_difference,
            "reference_max_abs": self.largest_reference,
            "relative_l2_error": relative,
            "cosine_similarity": cosine(self.dot.total(), actual, reference),
        }
        return ParityErrors(MEASURED, "", metrics, self.size, ratio_of_roots(actual, reference))


def largest_of(values: NDArray[Any]) -> float:
    """max |value|; NaN where there is one."""
    return max_keeping_nan(float(values.max()), -float(values.min()))


def max_keeping_nan(first: float, second: float) -> float:
    """The larger of two numbers; NaN when the first is."""
    return first if math.isnan(first) or first >= second else second


def cosine(
    dot: tuple[int, float], actual: tuple[int, float], reference: tuple[int, float]
) -> float:
    """dot / (‖actual‖ ‖reference‖), within [−1, 1]."""
    exponent = dot[0] - (actual[0] + reference[0]) // 2
    value = math.ldexp(dot[1] / math.sqrt(actual[1]) / math.sqrt(reference[1]), exponent)
    return min(1.0, max(-1.0, value))


def failed(reason: str) -> ParityErrors:
    """No figures, and why."""
    return ParityErrors(FAILED, reason)


def parity_errors(actual: object, reference: object) -> ParityErrors:
    """Parity figures of an array, a list, or a mapping of names to these.

    Invalid input (NaN, infinity, an empty or zero side, mismatched names or shapes, booleans)
    gives `status == "failed"`, a reason, and no figures: it never raises for bad numbers.

    Example: `parity_errors([1.0, 2.0], [1.0, 2.5])["max_abs_error"] == 0.5`
    """
    try:
        left, right = sources_of(actual), sources_of(reference)
    except NotATensorError as error:
        return failed(str(error))
    return compare_sources(left, right)


def compare_sources(
    actual: Mapping[str, TensorSource], reference: Mapping[str, TensorSource]
) -> ParityErrors:
    """Parity figures per tensor and pooled; names and shapes must match."""
    if complaint := mismatched_names(set(actual), set(reference)):
        return failed(complaint)
    pooled, tensors, space = PairSums(), {}, Workspace()
    for name in sorted(actual):
        sums, complaint = pair_sums(actual[name], reference[name], space)
        tensors[name] = failed(complaint) if complaint else sums.errors()
        pooled.pool(sums)
    broken = {name: each for name, each in tensors.items() if not each.measured}
    if broken:
        name, first = next(iter(broken.items()))
        place = f"{name}: " if name else ""
        return ParityErrors(FAILED, place + first.reason, tensors=tensors)
    whole = pooled.errors()
    return ParityErrors(
        whole.status, whole.reason, whole.metrics, whole.size, whole.norm_ratio, tensors
    )


def mismatched_names(actual: set[str], reference: set[str]) -> str:
    """What is wrong with two sets of tensor names; empty where they agree."""
    if actual == reference:
        return "" if actual else "no tensors"
    missing, extra = sorted(reference - actual)[:3], sorted(actual - reference)[:3]
    parts = [f"missing in actual: {', '.join(missing)}"] if missing else []
    parts += [f"missing in reference: {', '.join(extra)}"] if extra else []
    return "tensor names differ; " + "; ".join(parts)


def pair_sums(
    actual: TensorSource, reference: TensorSource, space: Workspace
) -> tuple[PairSums, str]:
    """The sums of one pair, read in chunks, and a complaint (empty when there is none)."""
    sums = PairSums()
    if actual.shape != reference.shape:
        return sums, f"shapes differ: {list(actual.shape)} and {list(reference.shape)}"
    for start in range(0, actual.size, CHUNK):
        stop = min(start + CHUNK, actual.size)
        left, right = actual.piece(start, stop), reference.piece(start, stop)
        if complaint := sums.add(left, right, space):
            return PairSums(), complaint
    return sums, ""


def root_of_squares(values: NDArray[Any]) -> float:
    """‖values‖ in float64, scaled; NaN where an element is not finite or there is none."""
    sums = ScaledSum()
    flat = np.ascontiguousarray(values).reshape(-1)
    for start in range(0, flat.size, CHUNK):
        piece = flat[start : start + CHUNK].astype(np.float64)
        largest = largest_of(piece)
        if not math.isfinite(largest):
            return math.nan
        exponent = exponent_of(largest)
        unit = scaled(piece, exponent)
        sums.add(2 * exponent, inner(unit, unit))
    return root(sums.total()) if flat.size else math.nan

"""Where tensors come from: arrays in memory, or files that are read in pieces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

LARGEST_EXACT_INTEGER = 2**53


class NotATensorError(ValueError):
    """The value has no exact float64 reading; the message says why."""


class TensorSource(Protocol):
    """A tensor that is read in flat pieces, in row-major order."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        ...

    @property
    def size(self) -> int:
        """The number of elements."""
        ...

    def piece(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop` as float16, float32 or float64, exact."""
        ...


@dataclass(frozen=True, slots=True)
class ArraySource:
    """A tensor in memory."""

    shape: tuple[int, ...]
    flat: NDArray[Any]

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.flat.size)

    def piece(self, start: int, stop: int) -> NDArray[Any]:
        """Elements `start:stop`."""
        return self.flat[start:stop]


def sources_of(value: object) -> dict[str, TensorSource]:
    """Named sources of an array, a list, a number, or a mapping of these.

    A value without names gets the empty name. Raises `NotATensorError`.
    """
    if isinstance(value, Mapping):
        return {str(name): source_of(item) for name, item in value.items()}
    return {"": source_of(value)}


def source_of(value: Any) -> TensorSource:
    """The source of one array; an object that already is a source stays itself."""
    if hasattr(value, "piece"):
        source: TensorSource = value
        return source
    array = as_array(value)
    refuse_what_is_no_number(array)
    return ArraySource(tuple(array.shape), np.ascontiguousarray(exact_floats(array)).reshape(-1))


def as_array(value: Any) -> NDArray[Any]:
    """The value as an array; torch tensors of any floating type are widened first."""
    if isinstance(value, list | tuple) and holds_a_bool(value):
        raise NotATensorError("true and false are no numbers")
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value
    try:
        return np.asanyarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise NotATensorError(f"not an array of numbers: {error}") from None


def holds_a_bool(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a nested list contains `True` or `False`, which numpy would read as 1 and 0."""
    return any(
        holds_a_bool(item) if isinstance(item, list | tuple) else isinstance(item, bool)
        for item in value
    )


def refuse_what_is_no_number(array: NDArray[Any]) -> None:
    """Raise for types without an exact float64 reading, and for masked elements."""
    if np.ma.isMaskedArray(array) and np.ma.is_masked(array):
        raise NotATensorError("masked elements have no value")
    if array.dtype.kind == "b":
        raise NotATensorError("true and false are no numbers")
    if array.dtype.name == "bfloat16":
        return
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise NotATensorError(f"type {array.dtype} has no exact float64 reading")


def exact_floats(array: NDArray[Any]) -> NDArray[Any]:
    """The array as float16, float32 or float64 without any rounding."""
    if array.dtype.kind == "f":
        return np.asarray(array)
    floats = np.asarray(array).astype(np.float64)
    if array.dtype.kind in "iu" and array.size:
        largest = max(abs(int(array.max())), abs(int(array.min())))
        if largest > LARGEST_EXACT_INTEGER:
            raise NotATensorError(f"integer {largest} has no exact float64 reading")
    return floats

"""What differs between two JSON values, with the JSON path of every place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.model.json import is_number
from rx_tools.model.json_path import child

ABSENT = "(absent)"


@dataclass(frozen=True, slots=True)
class Change:
    """One place; `left` and `right` are the values there, `ABSENT` where one side has none."""

    path: str
    left: Any
    right: Any

    @property
    def distance(self) -> float | None:
        """How far apart two numbers are."""
        if is_number(self.left) and is_number(self.right):
            return abs(float(self.left) - float(self.right))
        return None


def changes(left: Any, right: Any, atol: float = 0.0, path: str = "$") -> Iterator[Change]:
    """Every place where the values differ; numbers no further apart than `atol` are equal.

    `1` and `1.0` are the same number; `true` is no number.
    """
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in dict.fromkeys((*left, *right)):
            place = child(path, str(key))
            yield from changes(left.get(key, ABSENT), right.get(key, ABSENT), atol, place)
    elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
        for index in range(max(len(left), len(right))):
            ours, theirs = (at(side, index) for side in (left, right))
            yield from changes(ours, theirs, atol, child(path, index))
    elif not same(left, right, atol):
        yield Change(path, left, right)


def at(values: Sequence[Any], index: int) -> Any:
    """An element, `ABSENT` beyond the end."""
    return values[index] if index < len(values) else ABSENT


def same(left: Any, right: Any, atol: float) -> bool:
    """Whether two values that are not both containers are equal."""
    if is_number(left) and is_number(right):
        return bool(left == right or abs(float(left) - float(right)) <= atol)
    return type(left) is type(right) and bool(left == right)

"""What one cell holds: the values of its items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = tuple[str, str, int]
"""Metric, role, seed."""


@dataclass(frozen=True, slots=True)
class CellItems:
    """Item ids and their values, side by side. Cells with equal items often share the sequence."""

    items: Sequence[str]
    values: Sequence[float]

    @property
    def by_item(self) -> dict[str, float]:
        """The value of every item."""
        return dict(zip(self.items, self.values, strict=True))


ItemValues: TypeAlias = Mapping[Cell, CellItems]

NOTHING = CellItems((), ())

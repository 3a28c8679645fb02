"""Choose a learning rate from the arms of a grid, by their scores on search items alone.

The lowest score wins and ties go to the lower rate. A winner at the edge of its grid lets the run
go on, but its verdict cannot be definitive: the best rate may lie outside.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.errors import UnverifiedError
from rx_tools.model.names import ArmName
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import Grid


@dataclass(frozen=True, slots=True)
class Choice:
    """What the selection froze for one grid: the rate, and whether it is at the grid's edge."""

    grid: str
    rate: float
    edge: bool

    @property
    def warning(self) -> str:
        """One sentence for a choice at the edge, empty otherwise; told before confirmation."""
        if not self.edge:
            return ""
        return (
            f"{self.grid}: the rate {self.rate:g} is at the edge of its grid; "
            "the run goes on, but its verdict will be inconclusive"
        )


def choose(grid: Grid, scores: Mapping[ArmName, float]) -> Choice:
    """The rate of the arm with the lowest of `scores` (mean NLL on search items).

    Raises `UnverifiedError` while an arm has no score: a crashed arm is no loser. A score that is
    no finite number loses against every number.
    """
    missing = [arm for arm in grid.arms if arm not in scores]
    if missing:
        raise UnverifiedError(
            f"{len(missing)} arms are not scored: {', '.join(missing)}",
            where=f"grid {grid.id}",
            hint="finish them with --resume; a rate is chosen from complete grids only",
        )
    points = [
        (scores[arm] if math.isfinite(scores[arm]) else math.inf, rate)
        for arm, rate in zip(grid.arms, grid.learning_rates, strict=True)
    ]
    best, rate = min(points)
    if not best < math.inf:
        raise UnverifiedError("no arm has a finite score", where=f"grid {grid.id}")
    return Choice(grid.id, rate, rate in (min(grid.learning_rates), max(grid.learning_rates)))


def selection_section(grids: Iterable[Grid], selected: Mapping[str, float]) -> dict[str, Any]:
    """The record's `decision.selection`; `selected` maps grids to their rates."""
    return {
        "frozen_before_confirmation": True,
        "selected": dict(selected),
        "grids": {grid.id: list(grid.learning_rates) for grid in grids},
        "search_ref": names.items_file("search"),
        "confirmation_ref": names.items_file("confirmation"),
    }

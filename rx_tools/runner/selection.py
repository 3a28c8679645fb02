"""Choose learning rates from grid arms, by their scores on search items alone.

The lowest score wins and ties go to the lower rate. A winner at the edge of its grid lets the run
go on, but its verdict cannot be definitive: the best rate may lie outside.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.evidence.ledger import Ledger, LedgerLine
from rx_tools.model.names import ArmName, Role, Sha256
from rx_tools.planning.plan import Grid


@dataclass(frozen=True, slots=True)
class Point:
    """One rate of a grid and its score: the mean over the grid's arms at this rate."""

    learning_rate: float
    score: float
    arms: tuple[ArmName, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for one role, at the edge or not, and from which points."""

    role: Role
    learning_rate: float
    at_edge: bool
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The choices of every role that searched."""

    choices: tuple[Choice, ...]

    @property
    def selected(self) -> dict[str, float]:
        """Role → learning rate."""
        return {choice.role: choice.learning_rate for choice in self.choices}

    @property
    def edge(self) -> dict[str, bool]:
        """Role → whether its rate is the smallest or largest of its grid."""
        return {choice.role: choice.at_edge for choice in self.choices}

    def warnings(self) -> tuple[str, ...]:
        """One sentence for every choice at an edge, to be told before confirmation starts."""
        return tuple(
            f"{choice.role}: {choice.learning_rate:g} is at the edge of its grid; the run goes on, "
            "but its verdict will be inconclusive"
            for choice in self.choices
            if choice.at_edge
        )

    def to_json(self) -> dict[str, Any]:
        """The selection as it goes into ledger and evidence."""
        grids = {
            choice.role: [
                {"learning_rate": p.learning_rate, "score": p.score, "arms": list(p.arms)}
                for p in choice.points
            ]
            for choice in self.choices
        }
        return {"selected": self.selected, "edge": self.edge, "grids": grids}


def choose(grids: Sequence[Grid], scores: Mapping[ArmName, float]) -> Selection:
    """The selection that `scores` (grid arm → mean NLL on search items) give.

    Raises `UnverifiedError` while an arm has no score: a crashed arm is no loser. A score that is
    no finite number loses against every number.
    """
    arms = [arm for grid in grids for arm in grid.arms]
    missing = [arm for arm in arms if arm not in scores]
    if missing:
        raise UnverifiedError(
            f"{len(missing)} grid arms are not scored: {', '.join(missing)}",
            hint="finish them with --resume; a rate is chosen from complete grids only",
        )
    roles = dict.fromkeys(grid.role for grid in grids)
    return Selection(tuple(_choose_one(role, grids, scores) for role in roles))


def freeze(selection: Selection, ledger: Ledger, files: Mapping[str, Sha256]) -> None:
    """Write the selection to the ledger with the digests of the scores that it rests on.

    Must happen before any confirmation arm starts; freezing another selection is refused.
    """
    frozen = frozen_selection(ledger.lines)
    if frozen is None:
        ledger.append("selection_frozen", selection.to_json(), files)
    elif frozen != selection.selected:
        raise IntegrityError(f"the selection was frozen as {frozen}, not {selection.selected}")


def frozen_selection(lines: Iterable[LedgerLine]) -> dict[str, float] | None:
    """Role → learning rate as frozen in the ledger; None before."""
    for line in lines:
        if line.event == "selection_frozen":
            return {str(role): float(rate) for role, rate in line.data["selected"].items()}
    return None


def _choose_one(role: Role, grids: Sequence[Grid], scores: Mapping[ArmName, float]) -> Choice:
    arms_by_rate: dict[float, list[ArmName]] = {}
    for grid in grids:
        if grid.role == role:
            for rate, arm in zip(grid.learning_rates, grid.arms, strict=True):
                arms_by_rate.setdefault(rate, []).append(arm)
    points = tuple(
        Point(rate, _mean([scores[arm] for arm in arms]), tuple(arms))
        for rate, arms in sorted(arms_by_rate.items())
    )
    best = min(points, key=lambda point: (_last_if_no_number(point.score), point.learning_rate))
    if not math.isfinite(best.score):
        raise UnverifiedError(f"{role}: no rate of the grid has a finite score")
    edges = (points[0].learning_rate, points[-1].learning_rate)
    return Choice(role, best.learning_rate, best.learning_rate in edges, points)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _last_if_no_number(score: float) -> float:
    return score if math.isfinite(score) else math.inf

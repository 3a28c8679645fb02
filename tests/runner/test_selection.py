"""The learning rate of a grid: lowest score, ties to the lower rate, edges told."""

import math
from pathlib import Path

import pytest

from rx_tools.errors import IntegrityError, UnverifiedError
from rx_tools.evidence.ledger import Ledger
from rx_tools.model.names import ArmName, Role
from rx_tools.planning.plan import Grid
from rx_tools.runner.selection import choose, freeze, frozen_selection

RATES = (3e-5, 1e-4, 3e-4)


def grid(role: str = "baseline", seed: int = 0, rates: tuple[float, ...] = RATES) -> Grid:
    arms = tuple(ArmName(f"{role}-{seed}-{rate:g}") for rate in rates)
    return Grid(f"{role}-{seed}", Role(role), seed, arms, rates)


def scored(grid: Grid, *values: float) -> dict[ArmName, float]:
    return dict(zip(grid.arms, values, strict=True))


@pytest.mark.parametrize(
    ("values", "rate", "edge"),
    [
        ((2.0, 1.0, 3.0), 1e-4, False),
        ((2.0, 2.0, 3.0), 3e-5, True),
        ((3.0, 2.0, 2.0), 1e-4, False),
        ((3.0, 2.0, 1.0), 3e-4, True),
        ((3.0, 2.0, math.nan), 1e-4, False),
        ((math.inf, 2.0, math.nan), 1e-4, False),
        ((-math.inf, 2.0, 3.0), 1e-4, False),
    ],
)
def test_the_lowest_score_wins_and_ties_go_to_the_lower_rate(
    values: tuple[float, ...], rate: float, edge: bool
) -> None:
    selection = choose([grid()], scored(grid(), *values))
    assert selection.selected == {"baseline": rate} and selection.edge == {"baseline": edge}
    assert len(selection.warnings()) == edge


def test_two_points_are_both_edges() -> None:
    two = grid(rates=(1e-4, 3e-4))
    assert choose([two], scored(two, 1.0, 2.0)).edge == {"baseline": True}


def test_grids_in_any_order_of_rates_give_the_same_choice() -> None:
    turned = grid(rates=RATES[::-1])
    assert choose([turned], scored(turned, 2.0, 2.0, 3.0)).selected == {"baseline": 1e-4}


def test_several_seeds_of_a_role_are_averaged_before_choosing() -> None:
    first, second = grid(seed=0), grid(seed=1)
    scores = {**scored(first, 1.0, 1.5, 9.0), **scored(second, 5.0, 1.5, 9.0)}
    assert choose([first, second], scores).selected == {"baseline": 1e-4}


def test_an_arm_without_score_is_no_loser() -> None:
    scores = scored(grid(), 1.0, 2.0, 3.0)
    del scores[grid().arms[1]]
    with pytest.raises(UnverifiedError, match="baseline-0-0"):
        choose([grid()], scores)


def test_a_grid_that_diverged_everywhere_has_no_choice() -> None:
    with pytest.raises(UnverifiedError, match="finite"):
        choose([grid()], scored(grid(), math.nan, math.inf, math.nan))


def test_what_is_frozen_stays(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger.jsonl", "run1")
    first = choose([grid()], scored(grid(), 2.0, 1.0, 3.0))
    assert frozen_selection(ledger.lines) is None
    freeze(first, ledger, {})
    freeze(first, ledger, {})
    assert frozen_selection(ledger.lines) == {"baseline": 1e-4}
    assert [line.event for line in ledger.lines] == ["selection_frozen"]
    with pytest.raises(IntegrityError, match="frozen"):
        freeze(choose([grid()], scored(grid(), 1.0, 2.0, 3.0)), ledger, {})

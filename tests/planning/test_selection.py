"""The learning rate of a grid: lowest score, ties to the lower rate, edges told."""

import math

import pytest

from rx_tools.errors import UnverifiedError
from rx_tools.model.names import ArmName, Role
from rx_tools.planning.plan import Grid
from rx_tools.planning.selection import choose

RATES = (3e-5, 1e-4, 3e-4)


def grid(rates: tuple[float, ...] = RATES) -> Grid:
    arms = tuple(ArmName(f"arm-{rate:g}") for rate in rates)
    return Grid("adamw", Role("baseline"), 0, arms, rates)


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
        ((math.nan, 2.0, 3.0), 1e-4, False),
        ((math.inf, 2.0, math.nan), 1e-4, False),
        ((-math.inf, 2.0, 3.0), 1e-4, False),
    ],
)
def test_the_lowest_score_wins_and_ties_go_to_the_lower_rate(
    values: tuple[float, ...], rate: float, edge: bool
) -> None:
    choice = choose(grid(), scored(grid(), *values))
    assert (choice.rate, choice.edge) == (rate, edge)
    assert ("inconclusive" in choice.warning) == edge


def test_two_points_are_both_edges() -> None:
    two = grid((1e-4, 3e-4))
    assert choose(two, scored(two, 1.0, 2.0)).edge


def test_the_order_of_the_rates_does_not_matter() -> None:
    turned = grid(RATES[::-1])
    choice = choose(turned, scored(turned, 2.5, 2.0, 3.0))
    assert (choice.rate, choice.edge) == (1e-4, False)
    assert choose(turned, scored(turned, 2.0, 2.0, 2.0)).rate == 3e-5


def test_scores_of_other_arms_do_not_count() -> None:
    scores = scored(grid(), 2.0, 1.0, 3.0) | {ArmName("base"): 0.1}
    assert choose(grid(), scores).rate == 1e-4


def test_an_arm_without_score_is_no_loser() -> None:
    scores = scored(grid(), 1.0, 2.0, 3.0)
    del scores[grid().arms[1]]
    with pytest.raises(UnverifiedError, match=r"arm-0\.0001"):
        choose(grid(), scores)


def test_a_grid_that_diverged_everywhere_has_no_choice() -> None:
    with pytest.raises(UnverifiedError, match="finite"):
        choose(grid(), scored(grid(), math.nan, math.inf, math.nan))

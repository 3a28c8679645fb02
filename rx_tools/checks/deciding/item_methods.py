"""Methods over items, used only where a frozen rule names one for the unit `item`.

They speak of the scored checkpoints and of the population that the items stand for; several seeds
are averaged item by item. For training seeds they are refused.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from rx_tools.checks.deciding.cell_items import ItemValues
from rx_tools.checks.deciding.criterion import CriterionResult, Judged
from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.readings import band_reading, margin_reading
from rx_tools.checks.deciding.rule import FrozenCriterion, FrozenRule
from rx_tools.numerics import bounded
from rx_tools.numerics.bounded import Bounds

BINARY = ("clopper_pearson", "mcnemar_exact")
NO_GUARD = Fraction(0)


def judge_items(rule: FrozenRule, criterion: FrozenCriterion, values: ItemValues) -> Judged:
    """Interval and readings of one criterion over items; all cells are there."""
    cells = {
        (role, seed): values[(criterion.metric, role, seed)].by_item
        for role in criterion.weights
        for seed in rule.seeds
    }
    n = len(next(iter(cells.values())))
    issues = tuple(item_issues(rule, criterion, cells, n))
    bare = CriterionResult(
        id=criterion.id,
        metric=criterion.metric,
        margin=criterion.margin,
        n=n,
        k=len(rule.criteria),
        contrasts={},
        mean=None,
    )
    if issues:
        return Judged(bare, issues)
    try:
        bounds = bounds_of(rule, criterion, cells)
    except OverflowError:
        text = f"{criterion.id}: an end of the interval is larger than any double."
        return Judged(bare, (Issue("NOT_REPRESENTABLE", text, criterion.id),))
    low, high, margin = Fraction(bounds.low), Fraction(bounds.high), Fraction(criterion.margin)
    on_margin = margin_reading(low, high, margin, NO_GUARD)
    on_band = band_reading(low, high, margin, NO_GUARD)
    result = CriterionResult(
        id=criterion.id,
        metric=criterion.metric,
        margin=criterion.margin,
        n=n,
        k=len(rule.criteria),
        contrasts={},
        mean=bounds.estimate,
        low=bounds.low,
        high=bounds.high,
        reading_margin=on_margin,
        reading_band=on_band,
        settled_margin=on_margin,
        settled_band=on_band,
    )
    return Judged(result, ())


Cells = Mapping[tuple[str, int], Mapping[str, float]]


def item_issues(
    rule: FrozenRule, criterion: FrozenCriterion, cells: Cells, n: int
) -> Iterator[Issue]:
    """Why a method does not fit a criterion or its values."""
    weights = sorted(criterion.weights.values())
    low, high = rule.value_range
    if rule.method in BINARY:
        low, high = 0.0, 1.0
        if len(rule.seeds) != 1:
            text = f"{rule.method} is for one fixed checkpoint per role, not for several seeds."
            yield Issue("RULE_SEEDS", text, criterion.id)
    if rule.method == "clopper_pearson" and weights != [1]:
        yield Issue("RULE_WEIGHTS", "clopper_pearson weighs one role with 1.", criterion.id)
    if rule.method == "mcnemar_exact" and weights != [-1, 1]:
        yield Issue("RULE_WEIGHTS", "mcnemar_exact weighs two roles, 1 and -1.", criterion.id)
    if rule.method == "mcnemar_exact" and criterion.margin != 0:
        yield Issue("RULE_MARGIN", "mcnemar_exact knows no margin but 0.", criterion.id)
    if rule.method == "empirical_bernstein" and n < 2:
        yield Issue("TOO_FEW_SEEDS", "A single item cannot give an interval.", criterion.id)
    allowed = (low, high) if rule.method in BINARY else None
    for (role, seed), items in cells.items():
        wrong = [
            item
            for item, value in items.items()
            if not (value in allowed if allowed else low <= value <= high)
        ]
        if wrong:
            kind = "neither 0 nor 1" if allowed else f"outside [{low:g}, {high:g}]"
            text = f"{role}, seed {seed}: {len(wrong)} values are {kind}, as of {wrong[0]!r}."
            yield Issue("VALUE_RANGE", text, criterion.id)


def bounds_of(rule: FrozenRule, criterion: FrozenCriterion, cells: Cells) -> Bounds:
    """The interval of the method that the rule names."""
    level = max(rule.alpha / len(rule.criteria), math.ulp(0.0))
    contrasts = contrasts_of(rule, criterion, cells)
    if rule.method == "clopper_pearson":
        return bounded.clopper_pearson(round(sum(contrasts)), len(contrasts), level)
    if rule.method == "mcnemar_exact":
        return bounded.mcnemar_exact(contrasts.count(1.0), contrasts.count(-1.0), level)
    low, high = rule.value_range
    width = float(sum(map(abs, criterion.weights.values())) * (Fraction(high) - Fraction(low)))
    if rule.method == "hoeffding":
        return bounded.hoeffding(contrasts, width, level)
    return bounded.empirical_bernstein(contrasts, width, level)


def contrasts_of(rule: FrozenRule, criterion: FrozenCriterion, cells: Cells) -> list[float]:
    """Σ w·x per item, averaged over the seeds."""
    items = next(iter(cells.values()))
    return [
        float(
            sum(
                (
                    weight * Fraction(cells[(role, seed)][item])
                    for role, weight in criterion.weights.items()
                    for seed in rule.seeds
                ),
                Fraction(0),
            )
            / len(rule.seeds)
        )
        for item in items
    ]

"""`decide`: the verdict of a frozen rule over rows or stated means.

The outcome table, first hit wins: arms, hypothesis, rule, source of the rows, rows, missing cells,
selection, gates, number of seeds, variance; then the criteria together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rx_tools.checks.deciding.cell_items import ItemValues
from rx_tools.checks.deciding.cells import (
    Means,
    means_of,
    read_observations,
    read_seed_means,
)
from rx_tools.checks.deciding.circumstances import Circumstances, circumstance_issues
from rx_tools.checks.deciding.criterion import CriterionResult, judge_criterion
from rx_tools.checks.deciding.issues import INCOMPLETE, Issue, Row, in_table_order, shortened
from rx_tools.checks.deciding.item_methods import judge_items
from rx_tools.checks.deciding.readings import (
    INCOMPLETE_EXECUTION,
    INSUFFICIENT,
    Outcome,
    Position,
    combine,
    reconcile,
)
from rx_tools.checks.deciding.rule import READINGS, SEED_METHODS, FrozenRule, read_rule


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, its reason, and everything that it rests on.

    `margin_reading` and `band_reading` are what each reading alone makes of the bare intervals;
    the verdict heeds every row of the outcome table. `tested` is the verdict for what was really
    tested where that is not the original hypothesis.
    """

    verdict: str
    outcome_reason: str
    reading_conflict: bool
    issues: tuple[Issue, ...]
    criteria: tuple[CriterionResult, ...]
    margin_reading: Outcome
    band_reading: Outcome
    warnings: tuple[str, ...] = ()
    tested: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """Verdict and reason together."""
        return Outcome(self.verdict, self.outcome_reason)


def decide(
    rule: object,
    observations: object = None,
    *,
    seed_means: object = None,
    items: object = None,
    reading: object = None,
    circumstances: Circumstances | Mapping[str, Any] | None = None,
) -> Decision:
    """Apply a decision rule. Invalid input gives a verdict with issues, never an exception.

    Exactly one of `observations` (rows with item_id, arm, seed, metric, value, evaluator_id) and
    `seed_means` (`{metric: {role: {seed: mean}}}`) is given. `items` is the frozen item list, or
    one per metric. `reading` is the frozen reading of the margins, `"margin"` or `"band"`, or one
    per criterion id; without it the verdict is definitive only where both agree.
    """
    given = circumstances or Circumstances()
    if isinstance(given, Mapping):
        given = Circumstances.of(given)
    frozen, issues = read_rule(rule)
    if frozen is None:
        return assemble((*issues, *circumstance_issues(given, ())), (), {}, ())
    readings, reading_issues = read_readings(frozen, reading)
    values, means, value_issues = read_values(frozen, observations, seed_means, items, given)
    observed = set(chain.from_iterable(cell.items for cell in values.values()))
    criteria, interval_issues = judge_all(frozen, means, values)
    found = (
        *reading_issues,
        *value_issues,
        *interval_issues,
        *circumstance_issues(given, observed),
    )
    return assemble(found, criteria, readings, frozen.warnings)


def read_readings(
    rule: FrozenRule, reading: object
) -> tuple[Mapping[str, str | None], tuple[Issue, ...]]:
    """The frozen reading of each criterion; None where nothing is frozen."""
    names = [criterion.id for criterion in rule.criteria]
    stated = reading if isinstance(reading, Mapping) else dict.fromkeys(names, reading)
    readings: dict[str, str | None] = {}
    issues: list[Issue] = []
    for name in names:
        value = stated.get(name)
        readings[name] = value if isinstance(value, str) and value in READINGS else None
        if value is not None and readings[name] is None:
            text = f"{name}: reading {value!r} is neither margin nor band."
            issues.append(Issue("RULE_READING", text, name))
    return readings, tuple(issues)


def read_values(
    rule: FrozenRule,
    observations: object,
    seed_means: object,
    items: object,
    given: Circumstances,
) -> tuple[ItemValues, Means, tuple[Issue, ...]]:
    """Item values and cell means from the one source that was given."""
    if given.source_issues:
        return {}, {}, ()
    if (observations is None) == (seed_means is None):
        text = "Give exactly one of observations and seed means."
        return {}, {}, (Issue("OBSERVATIONS_EXACTLY_ONE", text),)
    if seed_means is not None:
        means, issues = read_seed_means(rule, seed_means)
        return {}, means, issues
    values, issues = read_observations(rule, observations, items)
    return values, {} if issues else means_of(values), issues


def judge_all(
    rule: FrozenRule, means: Means, values: ItemValues
) -> tuple[tuple[CriterionResult, ...], tuple[Issue, ...]]:
    """Every criterion, if every cell has its mean."""
    if any(cell not in means for cell in rule.cells):
        return (), ()
    if rule.method in SEED_METHODS:
        judged = [judge_criterion(rule, criterion, means) for criterion in rule.criteria]
    elif values:
        judged = [judge_items(rule, criterion, values) for criterion in rule.criteria]
    else:
        text = f"{rule.method} needs the rows of the items, not their means."
        return (), (Issue("OBSERVATIONS_UNREADABLE", text),)
    issues = tuple(chain.from_iterable(one.issues for one in judged))
    if rule.method in SEED_METHODS and len(rule.seeds) < 2:
        issues += (Issue("TOO_FEW_SEEDS", "A single seed cannot give an interval."),)
    return tuple(one.result for one in judged), issues


def assemble(
    issues: Sequence[Issue],
    criteria: tuple[CriterionResult, ...],
    readings: Mapping[str, str | None],
    warnings: tuple[str, ...],
) -> Decision:
    """The first row of the outcome table that is hit, else the criteria together."""
    ordered = in_table_order(issues)
    blocked = first_hit(ordered)
    margin, band = both_readings(criteria, readings, settled=True)
    outcome = blocked or reconcile(margin, band)
    bare_margin, bare_band = both_readings(criteria, {}, settled=False)
    beyond = tuple(issue for issue in ordered if issue.row is not Row.HYPOTHESIS)
    return Decision(
        verdict=outcome.verdict,
        outcome_reason=outcome.reason,
        reading_conflict=blocked is None and margin != band,
        issues=shortened(ordered),
        criteria=criteria,
        margin_reading=bare_margin if criteria else blocked or INSUFFICIENT,
        band_reading=bare_band if criteria else blocked or INSUFFICIENT,
        warnings=warnings,
        tested=None
        if len(beyond) == len(ordered)
        else first_hit(beyond) or reconcile(margin, band),
    )


def first_hit(ordered: Sequence[Issue]) -> Outcome | None:
    """The outcome of the first issue in table order."""
    if not ordered:
        return None
    return INCOMPLETE_EXECUTION if ordered[0].row in INCOMPLETE else INSUFFICIENT


def both_readings(
    criteria: Sequence[CriterionResult], readings: Mapping[str, str | None], *, settled: bool
) -> tuple[Outcome, Outcome]:
    """All criteria together, where nothing is frozen once by margin and once by band."""
    outcomes = []
    for default in READINGS:
        positions = [
            position(criterion, readings.get(criterion.id) or default, settled)
            for criterion in criteria
        ]
        outcomes.append(combine(positions))
    return outcomes[0], outcomes[1]


def position(criterion: CriterionResult, reading: str, settled: bool) -> Position:
    """Where a criterion stands under a reading, with or without the guard."""
    if settled:
        return criterion.settled_margin if reading == "margin" else criterion.settled_band
    return criterion.reading_margin if reading == "margin" else criterion.reading_band

"""Cell means: one exact number per metric, role and seed, from raw rows or from stated means."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from rx_tools.checks.deciding.cell_items import Cell, CellItems, ItemValues
from rx_tools.checks.deciding.issues import Issue
from rx_tools.checks.deciding.observation_rows import ObservationRows
from rx_tools.checks.deciding.rule import FrozenRule, finite, named
from rx_tools.model.json import is_integer
from rx_tools.numerics.sums import exact_mean

Means: TypeAlias = Mapping[Cell, Fraction]


@dataclass(slots=True)
class Reading:
    """What was read: item values per cell, and what was wrong."""

    values: dict[Cell, dict[str, float]]
    issues: list[Issue] = field(default_factory=list)
    evaluators: dict[str, str] = field(default_factory=dict)


def read_observations(
    rule: FrozenRule, observations: object, items: object = None
) -> tuple[ItemValues, tuple[Issue, ...]]:
    """Item values of every weighted cell. Rows of other metrics or roles are left aside.

    `items` is the frozen item list, or a list per metric; without it, every item that any weighted
    cell of a metric holds is demanded of all of them.
    """
    frozen_items, issues = read_items(rule, items)
    if isinstance(observations, ObservationRows):
        issues += observations.issues
        values = None if issues else quickly(rule, observations, frozen_items)
        if values is not None:
            return values, tuple(missing(values, frozen_items))
    rows = rows_of(observations)
    if rows is None:
        return {}, (Issue("OBS_SCHEMA", "The observations are no list of rows."),)
    reading = Reading({cell: {} for cell in rule.cells}, list(issues))
    weighted = {(metric, role) for metric, role, _ in rule.cells}
    for place, row in rows:
        read_row(reading, row, place, weighted, frozen_items)
    values = {cell: CellItems(tuple(c), tuple(c.values())) for cell, c in reading.values.items()}
    if not reading.issues:
        reading.issues.extend(missing(values, frozen_items))
    return values, tuple(reading.issues)


def quickly(
    rule: FrozenRule, rows: ObservationRows, frozen_items: Mapping[str, Mapping[str, None]]
) -> ItemValues | None:
    """Item values by the fast way; None if any row needs a closer look."""
    if rows.typed is None:
        return None
    from rx_tools.checks.deciding.typed_rows import grouped

    values = grouped(rule, rows.typed)
    if values is None:
        return None
    lists = {(metric, id(cell.items)): cell.items for (metric, _, _), cell in values.items()}
    known = all(
        frozen_items[metric].keys() >= set(items)
        for (metric, _), items in lists.items()
        if metric in frozen_items
    )
    return values if known else None


def rows_of(observations: object) -> Iterable[tuple[str, Any]] | None:
    """The rows, with their places, of a list or of an object that holds `observations`."""
    if isinstance(observations, ObservationRows):
        return observations.documents[0]
    if isinstance(observations, Mapping):
        observations = observations.get("observations")
    if isinstance(observations, str | bytes | Mapping) or not isinstance(observations, Iterable):
        return None
    return ((f"row {number}", row) for number, row in enumerate(observations, 1))


def read_items(
    rule: FrozenRule, items: object
) -> tuple[Mapping[str, Mapping[str, None]], tuple[Issue, ...]]:
    """The frozen items per metric, in order."""
    metrics = list(dict.fromkeys(criterion.metric for criterion in rule.criteria))
    if items is None:
        return {}, ()
    lists = items if isinstance(items, Mapping) else dict.fromkeys(metrics, items)
    found: dict[str, Mapping[str, None]] = {}
    issues: list[Issue] = []
    for metric in metrics:
        listed = lists.get(metric)
        if listed is None:
            continue
        if not isinstance(listed, list | tuple | set | frozenset) or not all(map(named, listed)):
            issues.append(
                Issue("OBS_SCHEMA", f"The frozen items of {metric!r} are no list of ids.")
            )
        elif len(set(listed)) != len(listed):
            issues.append(Issue("OBS_SCHEMA", f"The frozen items of {metric!r} repeat an id."))
        else:
            found[metric] = dict.fromkeys(listed)
    return found, tuple(issues)


def read_row(
    reading: Reading,
    row: object,
    place: str,
    weighted: set[tuple[str, str]],
    frozen_items: Mapping[str, Mapping[str, None]],
) -> None:
    """Put one row into its cell, or note what is wrong with it."""
    if not isinstance(row, Mapping):
        reading.issues.append(Issue("OBS_SCHEMA", f"{place} is no object.", place))
        return
    metric, role = row.get("metric"), row.get("arm")
    if not (named(metric) and named(role)):
        text = f"{place} names no metric or no arm."
        reading.issues.append(Issue("OBS_SCHEMA", text, place))
        return
    if (metric, role) not in weighted:
        return
    problem = type_issue(row, place) or cell_issue(reading, row, place, frozen_items)
    if problem is None:
        cell = reading.values[(metric, role, row["seed"])]
        cell[row["item_id"]] = float(row["value"])
    else:
        reading.issues.append(problem)


def type_issue(row: Mapping[str, Any], place: str) -> Issue | None:
    """The first member of a weighted row that is absent or of the wrong type."""
    item, seed, evaluator = row.get("item_id"), row.get("seed"), row.get("evaluator_id")
    if not named(item):
        return Issue("OBS_SCHEMA", f"{place}: item_id {shown(item)} is no name.", place)
    if not is_integer(seed):
        return Issue("OBS_SEED_TYPE", f"{place}: seed {shown(seed)} is no integer.", place)
    if not finite(row.get("value")):
        text = f"{place}: value {shown(row.get('value'))} is no finite number."
        return Issue("NONFINITE_VALUE", text, place)
    if not named(evaluator):
        return Issue("OBS_SCHEMA", f"{place}: evaluator_id {shown(evaluator)} is no id.", place)
    return None


def cell_issue(
    reading: Reading,
    row: Mapping[str, Any],
    place: str,
    frozen_items: Mapping[str, Mapping[str, None]],
) -> Issue | None:
    """Why a well-formed row has no place in its cell."""
    metric, role, seed, item = row["metric"], row["arm"], row["seed"], row["item_id"]
    values = reading.values.get((metric, role, seed))
    if values is None:
        return Issue("EXTRA_SEED", f"{place}: seed {seed} of {role} is not scheduled.", place)
    evaluator = reading.evaluators.setdefault(metric, row["evaluator_id"])
    if evaluator != row["evaluator_id"]:
        text = f"{place}: {metric} was scored by another evaluator than in the first row."
        return Issue("EVALUATOR_MISMATCH", text, place)
    if item in values:
        text = f"{place} repeats {metric}, {role}, seed {seed}, item {item!r}."
        return Issue("DUPLICATE_OBSERVATION", text, place)
    if item not in frozen_items.get(metric, {item: None}):
        text = f"{place}: item {item!r} is not in the frozen list."
        return Issue("UNKNOWN_ITEM", text, place)
    return None


def shown(value: object) -> str:
    """A value in a message, never longer than forty characters."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "of > 30 digits"
    return text if len(text) <= 40 else f"{text[:37]}…"


def missing(values: ItemValues, frozen_items: Mapping[str, Mapping[str, None]]) -> Iterator[Issue]:
    """Cells without a row, and cells that lack an item of the metric."""
    expected: dict[str, dict[str, None]] = defaultdict(dict)
    seen: set[int] = set()
    for (metric, _, _), cell in values.items():
        if id(cell.items) not in seen:
            expected[metric].update(frozen_items.get(metric, dict.fromkeys(cell.items)))
            seen.add(id(cell.items))
    for (metric, role, seed), cell in values.items():
        if not cell.items:
            yield Issue("MISSING_CELL", f"No row for {metric}, {role}, seed {seed}.")
        elif len(cell.items) < len(expected[metric]):
            absent = [item for item in expected[metric] if item not in set(cell.items)]
            text = f"{metric}, {role}, seed {seed} lacks {len(absent)} items: {listed(absent)}."
            yield Issue("MISSING_ITEM", text)


def listed(names: Sequence[str]) -> str:
    """The first names of a list."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more


def means_of(values: ItemValues) -> Means:
    """The exact mean of every cell; each holds one item at least."""
    return {cell: exact_mean(found.values) for cell, found in values.items()}


def read_seed_means(rule: FrozenRule, seed_means: object) -> tuple[Means, tuple[Issue, ...]]:
    """Means that were stated: `{metric: {role: {seed: mean}}}`, seeds as integers or digits."""
    means: dict[Cell, Fraction] = {}
    issues: list[Issue] = []
    table = seed_means if isinstance(seed_means, Mapping) else {}
    for metric, role in dict.fromkeys((metric, role) for metric, role, _ in rule.cells):
        by_role = table.get(metric)
        by_seed = by_role.get(role) if isinstance(by_role, Mapping) else None
        for key, value in (by_seed if isinstance(by_seed, Mapping) else {}).items():
            place = f"{metric}, {role}"
            seed = integer_of(key)
            if seed is None:
                issues.append(Issue("OBS_SEED_TYPE", f"{place}: seed {key!r} is no integer."))
            elif seed not in rule.seeds:
                issues.append(Issue("EXTRA_SEED", f"{place}: seed {seed} is not scheduled."))
            elif (metric, role, seed) in means:
                text = f"{place}: seed {seed} is stated twice."
                issues.append(Issue("DUPLICATE_OBSERVATION", text))
            elif not finite(value):
                text = f"{place}, seed {seed}: {shown(value)} is no finite number."
                issues.append(Issue("NONFINITE_VALUE", text))
            else:
                means[(metric, role, seed)] = Fraction(float(value))
    if not issues:
        issues.extend(
            Issue("MISSING_CELL", f"No mean for {metric}, {role}, seed {seed}.")
            for metric, role, seed in rule.cells
            if (metric, role, seed) not in means
        )
    return means, tuple(issues)


def integer_of(key: object) -> int | None:
    """A seed as a key: an integer, or its plain decimal digits."""
    if is_integer(key):
        return key
    if isinstance(key, str) and len(key) < 20 and key.removeprefix("-").isdecimal():
        number = int(key)
        return number if str(number) == key else None
    return None

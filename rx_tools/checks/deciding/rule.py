"""The frozen rule, read strictly: what it cannot mean is an issue, never an exception."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from rx_tools.checks.deciding.issues import Issue
from rx_tools.model.json import JsonObject, as_object, is_integer

ASSUMPTIONS = (
    "independent_seed_effects",
    "identically_distributed_seed_effects",
    "normal_seed_effects",
)
ITEM_ASSUMPTIONS = ("independent_items",)
SEED_UNIT = "training_seed"
ITEM_UNIT = "item"
SEED_METHODS = ("paired_t",)
ITEM_METHODS = ("clopper_pearson", "mcnemar_exact", "hoeffding", "empirical_bernstein")
READINGS = ("margin", "band")


@dataclass(frozen=True, slots=True)
class FrozenCriterion:
    """One contrast of roles on one metric; roles of weight zero are left out."""

    id: str
    metric: str
    weights: Mapping[str, Fraction]
    margin: float


@dataclass(frozen=True, slots=True)
class FrozenRule:
    """A rule that can be applied."""

    seeds: tuple[int, ...]
    alpha: float
    method: str
    criteria: tuple[FrozenCriterion, ...]
    value_range: tuple[float, float]

    @property
    def cells(self) -> tuple[tuple[str, str, int], ...]:
        """Every `(metric, role, seed)` that the rule weighs, in the rule's order."""
        roles = dict.fromkeys((c.metric, role) for c in self.criteria for role in c.weights)
        return tuple((metric, role, seed) for metric, role in roles for seed in self.seeds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed and rarely meant."""
        return tuple(
            f"{criterion.id}: the weights sum to {float(total):g}, so this is no contrast"
            for criterion in self.criteria
            if (total := sum(criterion.weights.values(), Fraction(0))) != 0
        )


def read_rule(document: object) -> tuple[FrozenRule | None, tuple[Issue, ...]]:
    """The rule, or None and what is wrong with it."""
    issues = tuple(rule_issues(document))
    if issues:
        return None, issues
    raw = as_object(document)
    return frozen(raw), ()


def frozen(raw: JsonObject) -> FrozenRule:
    """The view of a rule that has no issue."""
    criteria = tuple(
        FrozenCriterion(
            id=item["id"],
            metric=item["metric"],
            weights={role: Fraction(w) for role, w in item["weights"].items() if w != 0},
            margin=float(item["margin"]),
        )
        for item in raw["criteria"]
    )
    low, high = raw.get("value_range", (0.0, 1.0))
    return FrozenRule(
        seeds=tuple(raw["seeds"]),
        alpha=float(raw["alpha"]),
        method=raw["method"],
        criteria=criteria,
        value_range=(float(low), float(high)),
    )


def rule_issues(document: object) -> Iterator[Issue]:
    """Everything that keeps a rule from being applied."""
    if not isinstance(document, Mapping):
        yield Issue("RULE_SCHEMA", "The decision rule is no object.", "$.decision_rule")
        return
    version = document.get("version", 1)
    if not (is_integer(version) and version == 1):
        yield issue("RULE_VERSION", f"Rule version {version!r} is not 1.", "version")
    yield from method_issues(document)
    alpha = document.get("alpha")
    if not (finite(alpha) and 0 < alpha < 1):
        yield issue("RULE_ALPHA", f"alpha {alpha!r} does not lie between 0 and 1.", "alpha")
    yield from seed_issues(document.get("seeds"))
    yield from criteria_issues(document.get("criteria"))


def issue(name: str, message: str, *steps: str) -> Issue:
    """An issue with a member of the rule."""
    return Issue(name, message, ".".join(("$.decision_rule", *steps)))


def method_issues(rule: JsonObject) -> Iterator[Issue]:
    """Unit, method and assumptions belong together."""
    unit, method = rule.get("unit"), rule.get("method")
    if unit not in (SEED_UNIT, ITEM_UNIT):
        yield issue("RULE_UNIT", f"Unknown unit {unit!r}; known: {SEED_UNIT}.", "unit")
        return
    known = SEED_METHODS if unit == SEED_UNIT else ITEM_METHODS
    if method not in known:
        allowed = ", ".join(known)
        text = f"Method {method!r} does not apply to unit {unit}; known: {allowed}."
        yield issue("RULE_METHOD", text, "method")
    needed = ASSUMPTIONS if unit == SEED_UNIT else ITEM_ASSUMPTIONS
    yield from assumption_issues(rule.get("assumptions"), needed)
    if unit == ITEM_UNIT:
        yield from range_issues(rule.get("value_range", (0.0, 1.0)))


def assumption_issues(assumptions: object, needed: tuple[str, ...]) -> Iterator[Issue]:
    """Each assumption that the method needs, and each that is stated, must be `true`."""
    stated = as_object(assumptions)
    for name in dict.fromkeys((*needed, *stated)):
        if stated.get(name) is not True:
            text = f"Assumption {name} is {stated.get(name)!r}, not true."
            yield issue("RULE_ASSUMPTIONS", text, "assumptions", name)


def range_issues(value: object) -> Iterator[Issue]:
    """The range of the values is two finite numbers in order."""
    pair = value if isinstance(value, list | tuple) else ()
    if not (len(pair) == 2 and finite(pair[0]) and finite(pair[1]) and pair[0] < pair[1]):
        yield issue("RULE_SCHEMA", f"value_range {value!r} is no range.", "value_range")


def seed_issues(seeds: object) -> Iterator[Issue]:
    """A non-empty list of different integers."""
    if not isinstance(seeds, list | tuple) or not seeds:
        yield issue("RULE_SEEDS", "No training seed is scheduled.", "seeds")
        return
    for index, seed in enumerate(seeds):
        if not is_integer(seed):
            yield issue("RULE_SEEDS", f"Seed {seed!r} is no integer.", f"seeds[{index}]")
        elif any(is_integer(other) and other == seed for other in seeds[:index]):
            yield issue("RULE_SEEDS", f"Seed {seed} is scheduled twice.", f"seeds[{index}]")


def criteria_issues(criteria: object) -> Iterator[Issue]:
    """A non-empty list of criteria with different ids."""
    if not isinstance(criteria, list | tuple) or not criteria:
        yield issue("RULE_SCHEMA", "The rule has no criterion.", "criteria")
        return
    seen: set[str] = set()
    for index, item in enumerate(criteria):
        place = f"criteria[{index}]"
        if not isinstance(item, Mapping):
            yield issue("RULE_SCHEMA", f"Criterion {index} is no object.", place)
            continue
        identity = item.get("id")
        if not named(identity) or identity in seen:
            text = f"Criterion id {identity!r} is missing or not unique."
            yield issue("RULE_CRITERIA_ID", text, place, "id")
        else:
            seen.add(identity)
        yield from criterion_issues(item, place)


def criterion_issues(item: JsonObject, place: str) -> Iterator[Issue]:
    """Metric, weights and margin of one criterion."""
    if not named(item.get("metric")):
        yield issue("RULE_SCHEMA", f"Metric {item.get('metric')!r} is no name.", place, "metric")
    if not finite(item.get("margin")):
        text = f"Margin {item.get('margin')!r} is no finite number."
        yield issue("RULE_MARGIN", text, place, "margin")
    weights = item.get("weights")
    if not isinstance(weights, Mapping) or not weights:
        yield issue("RULE_WEIGHTS", "The criterion weighs no role.", place, "weights")
        return
    wrong = [role for role, w in weights.items() if not (named(role) and finite(w))]
    for role in wrong:
        text = f"The weight of {role!r} is {weights[role]!r}, no finite number."
        yield issue("RULE_WEIGHTS", text, place, "weights")
    if not wrong and not any(weights.values()):
        yield issue("RULE_WEIGHTS", "All weights are zero.", place, "weights")


def named(value: object) -> TypeGuard[str]:
    """Whether the value is a non-empty string."""
    return isinstance(value, str) and value != ""


def finite(value: object) -> TypeGuard[int | float]:
    """Whether the value is a number that a finite double holds; `true` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        number = float(value)
    except OverflowError:
        return False
    return number - number == 0

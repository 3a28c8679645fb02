"""The decision rule can decide, and its prose says the same.

**What.** At least two seeds; weights that are not all zero and sum to zero; every assumption of the
method declared true; criterion ids unique; the prose of `success_criterion` states the margin of
the rule and how an interval below it is read; item lists of a selection given item by item.

**Why.** One seed gives no interval. Two readings of a margin exist: under *margin* an interval
below `m` refutes, under *band* only one below `−m`, and between them lies a tie. The finished run
`exp_9574bbb76e` is refuted under the first and a tie under the second, so the reading has to be
frozen before an interval is seen.

**Fix.** Schedule more seeds before the run, never after it. Let the criterion name the
margin of the rule and the value below which it fails, and freeze the reading in the plan.

**Source.** Exchange contract, sections 9 and 14; the two readings of a margin.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.margin_reading import BAND, reading_of, thresholds
from rx_tools.checks.ruling import criteria_at, on_spec, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, as_text, is_integer, is_number
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX140": "the prose reads the margin as a band",
    "RX141": "the prose and the rule state different margins",
    "RX142": "fewer than two seeds give no interval",
    "RX143": "the weights of a criterion compare nothing",
    "RX144": "the weights of a criterion do not sum to zero",
    "RX145": "an assumption of the method is not declared true",
    "RX146": "the items of a selection are described, not listed",
    "RX147": "two criteria have the same id",
    "RX148": "the prose does not tell how an interval below the margin is read",
}

ASSUMPTIONS = (
    "independent_seed_effects",
    "identically_distributed_seed_effects",
    "normal_seed_effects",
)
RULE = "$.decision_rule"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the spec alone; not applicable without a decision rule."""
    if spec.decision_rule is None:
        return Result(Status.NOT_APPLICABLE)
    raw = spec.decision_rule.raw
    found = [*seeds(raw), *assumptions(raw), *item_lists(raw), *same_ids(spec)]
    for path, criterion in criteria_at(spec):
        found += [*weights(path, criterion), *prose(path, criterion, spec)]
    return ruled(found)


def seeds(rule: Mapping[str, Any]) -> Iterator[Finding]:
    """An interval over seeds needs two of them."""
    scheduled = rule.get("seeds")
    if isinstance(scheduled, list) and len({seed for seed in scheduled if is_integer(seed)}) < 2:
        message = "a single seed gives no interval: the verdict can only be inconclusive"
        hint = "schedule seeds now; none may be added after the gap is seen"
        yield on_spec("RX142", Level.ERROR, message, below(RULE, "seeds"), hint)


def assumptions(rule: Mapping[str, Any]) -> Iterator[Finding]:
    """The method assumes three things; a rule that does not declare them cannot use it."""
    declared = as_object(rule.get("assumptions"))
    for name in ASSUMPTIONS:
        if declared.get(name) is True:
            continue
        missing = name not in declared
        level = Level.UNVERIFIED if missing else Level.ERROR
        message = f"{name} is {'not declared' if missing else 'not true'}"
        yield on_spec("RX145", level, message, below(RULE, "assumptions", name))


def item_lists(rule: Mapping[str, Any]) -> Iterator[Finding]:
    """Search and confirmation items are compared item by item."""
    selection = rule.get("adaptive_selection")
    if not isinstance(selection, Mapping):
        return
    for key in ("search_item_ids", "confirmation_item_ids"):
        if isinstance(selection.get(key), list):
            continue
        message = f"{key} is {'described' if key in selection else 'absent'}, not listed"
        hint = "the plan must resolve it to item ids and their hash before the search"
        place = below(RULE, "adaptive_selection", key)
        yield on_spec("RX146", Level.WARNING, message, place, hint)


def same_ids(spec: Spec) -> Iterator[Finding]:
    """Criterion ids name the intervals of the answer."""
    seen: set[str] = set()
    for path, criterion in criteria_at(spec):
        name = as_text(criterion.get("id"))
        if name in seen:
            message = f"the criterion id {name!r} is taken"
            yield on_spec("RX147", Level.ERROR, message, below(path, "id"))
        seen.add(name)


def weights(path: str, criterion: Mapping[str, Any]) -> Iterator[Finding]:
    """A contrast weighs something, and usually sums to zero."""
    values = [w for w in as_object(criterion.get("weights")).values() if is_number(w)]
    place = below(path, "weights")
    if not any(values):
        yield on_spec("RX143", Level.ERROR, "all weights are zero or no numbers", place)
    elif abs(sum(values)) > 1e-9 * max(abs(w) for w in values):
        message = f"the weights sum to {sum(values):g}: the effect depends on the metric's zero"
        yield on_spec("RX144", Level.WARNING, message, place)


def prose(path: str, criterion: Mapping[str, Any], spec: Spec) -> Iterator[Finding]:
    """Prose and rule must not decide differently."""
    margin, text = criterion.get("margin"), spec.success_criterion
    if not is_number(margin) or not text:
        return
    stated = thresholds(text)
    if stated and margin not in stated:
        listed = ", ".join(f"{value:g}" for value in sorted(stated))
        message = f"the prose asks for more than {listed}, the rule for more than {margin:g}"
        yield on_spec("RX141", Level.WARNING, message, "$.success_criterion")
    reading = reading_of(text, margin)
    if reading == BAND:
        message = f"the prose fails below -{margin:g} (band), a plain margin below {margin:g}"
        hint = "freeze `readings` in the plan as band; an interval between the two is a tie"
        yield on_spec("RX140", Level.WARNING, message, below(path, "margin"), hint)
    elif reading is None:
        message = "the prose does not say below which value the criterion fails"
        hint = "without a frozen reading the verdict is definitive only where both agree"
        yield on_spec("RX148", Level.WARNING, message, below(path, "margin"), hint)

"""The effects of a run, recomputed with the frozen rule from the rows, or from scores so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rx_tools.checks.deciding.cells import Means
from rx_tools.checks.deciding.criterion import CriterionResult, contrast
from rx_tools.checks.deciding.decide import decide
from rx_tools.checks.deciding.observation_rows import ObservationRows
from rx_tools.checks.deciding.rule import FrozenRule, read_rule
from rx_tools.evidence.strict_json import read_bytes
from rx_tools.numerics.sums import as_double, exact_mean
from rx_tools.planning.plan import Plan
from rx_tools.report.run_arms import ArmView


@dataclass(frozen=True, slots=True)
class EffectView:
    """One criterion: the effect of each scheduled seed, and the interval once all are there.

    `source` says from what it was computed; `result` is None while a seed is missing.
    """

    id: str
    metric: str
    margin: float
    reading: str | None
    weights: Mapping[str, float]
    level: float
    contrasts: Mapping[int, float | None]
    result: CriterionResult | None
    source: str

    @property
    def contrast(self) -> str:
        """The weights in words, such as `baseline - treatment`."""
        terms = [term(role, weight) for role, weight in self.weights.items()]
        return " ".join(terms).removeprefix("+ ")


def term(role: str, weight: float) -> str:
    """One role with its sign; a weight of one needs no number."""
    sign = "+" if weight > 0 else "−"
    return f"{sign} {role}" if abs(weight) == 1 else f"{sign} {abs(weight):g} × {role}"


def effect_views(
    spec: Mapping[str, Any], plan: Plan, arms: Sequence[ArmView], rows: Path | None
) -> tuple[EffectView, ...]:
    """Every criterion of the rule; none when the rule cannot be applied."""
    rule, _ = read_rule(spec.get("decision_rule"))
    if rule is None:
        return ()
    results = recomputed(spec, plan, rows) if rows else {}
    source = f"recomputed from the rows of {rows.name}" if rows and results else ""
    means = means_so_far(rule, arms)
    return tuple(
        EffectView(
            id=one.id,
            metric=one.metric,
            margin=one.margin,
            reading=plan.readings.get(one.id),
            weights={role: float(weight) for role, weight in one.weights.items()},
            level=1 - rule.alpha / len(rule.criteria),
            contrasts=results[one.id].contrasts
            if one.id in results
            else contrasts_so_far(rule, one.id, means),
            result=results.get(one.id),
            source=source or "computed from the scores so far",
        )
        for one in rule.criteria
    )


def recomputed(spec: Mapping[str, Any], plan: Plan, path: Path) -> dict[str, CriterionResult]:
    """Criterion id → figures from the retained rows; empty when the rows are not usable."""
    rows = ObservationRows(read_bytes(path))
    decision = decide(spec.get("decision_rule"), rows, reading=dict(plan.readings))
    return {one.id: one for one in decision.criteria}


def means_so_far(rule: FrozenRule, arms: Sequence[ArmView]) -> Means:
    """(metric, role, seed) → score of every scored confirmation arm, exactly as recorded."""
    scores = {
        (arm.role, arm.seed): exact_mean([arm.score])
        for arm in arms
        if arm.phase == "confirmation" and arm.score is not None
    }
    metrics = dict.fromkeys(one.metric for one in rule.criteria)
    return {(metric, *key): score for metric in metrics for key, score in scores.items()}


def contrasts_so_far(rule: FrozenRule, identity: str, means: Means) -> dict[int, float | None]:
    """Seed → effect, None for a seed of which an arm is not scored yet."""
    one = next(criterion for criterion in rule.criteria if criterion.id == identity)
    return {
        seed: as_double(contrast(one, means, seed))
        if all((one.metric, role, seed) in means for role in one.weights)
        else None
        for seed in rule.seeds
    }

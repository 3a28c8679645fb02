"""Whether compared arms were all scored, by one evaluator."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.checks.grading import Problem, is_text, worst
from rx_tools.checks.roles import is_selection, role_of, roles_of
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer
from rx_tools.model.result import Status
from rx_tools.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison of the record, and the evaluators that scored all of it."""

    metric: str
    arms: tuple[str, ...]
    evaluator_ids: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def entry(self) -> dict[str, Any]:
        """The comparison in the style of the server."""
        return {
            "metric": self.metric,
            "arms": list(self.arms),
            "status": worst(problem.status for problem in self.problems).value,
            "evaluator_ids": list(self.evaluator_ids),
        }


def compare(spec: Spec, item: JsonObject, scores: list[JsonObject], path: str) -> Compared:
    """Find the evaluators under which every cell of a comparison has a score."""
    metric = as_text(item.get("metric"))
    arms = tuple(arm for arm in as_list(item.get("arms")) if is_text(arm))
    if not metric or len(arms) < 2 or len(set(arms)) != len(as_list(item.get("arms"))):
        message = "A comparison needs a metric and at least two distinct arms."
        return Compared(metric, arms, (), (Problem(Status.INVALID, "RX366", message, path),))
    cells = [cell for arm in arms for cell in cells_of(spec, arm)]
    scored = [evaluators_of(scores, metric, *cell) for cell in cells]
    missing = [cell for cell, found in zip(cells, scored, strict=True) if not found]
    common = set.intersection(*scored) if scored else set()
    problems = tuple(problems_of(metric, missing, common, path))
    return Compared(metric, arms, tuple(sorted(common)), problems)


def problems_of(
    metric: str, missing: list[tuple[str, int | None]], common: set[str], path: str
) -> Iterator[Problem]:
    """Cells without a score, or cells without a common evaluator."""
    for arm, seed in missing:
        cell = arm if seed is None else f"{arm} seed {seed}"
        message = f"{metric}: {cell} has no score."
        yield Problem(Status.UNVERIFIED, "RX366", message, path)
    if not missing and not common:
        message = f"{metric}: compared arms were scored by different evaluators."
        yield Problem(Status.FAILED, "RX367", message, path)


def cells_of(spec: Spec, arm: str) -> list[tuple[str, int | None]]:
    """An arm of the spec is one cell; a role is one cell for each scheduled seed."""
    rule = spec.decision_rule
    if arm in spec.arm_names or rule is None or not rule.seeds:
        return [(arm, None)]
    roles = {role for criterion in rule.criteria for role in criterion.weights}
    return [(arm, seed) for seed in rule.seeds] if arm in roles else [(arm, None)]


def evaluators_of(scores: list[JsonObject], metric: str, arm: str, seed: int | None) -> set[str]:
    """Who scored a cell; without a seed any score of the arm counts."""
    return {
        as_text(score.get("evaluator_id"))
        for score in scores
        if score.get("metric") == metric
        and score.get("arm") == arm
        and (seed is None or (is_integer(score.get("seed")) and score.get("seed") == seed))
        and is_text(score.get("evaluator_id"))
    }


def coverage_problems(spec: Spec, comparisons: list[JsonObject]) -> Iterator[Problem]:
    """Every weighted role of every criterion takes part in a comparison on its metric."""
    criteria = spec.decision_rule.criteria if spec.decision_rule else ()
    for criterion in criteria:
        on_metric = [c for c in comparisons if c.get("metric") == criterion.metric]
        arms = {arm for c in on_metric for arm in as_list(c.get("arms")) if is_text(arm)}
        weights: Mapping[str, Any] = as_object(criterion.raw.get("weights"))
        missing = [role for role in weights if not covers(spec, arms, role)]
        if missing:
            message = f"{criterion.metric}: no comparison covers {', '.join(missing)}."
            yield Problem(Status.UNVERIFIED, "RX368", message, "$.evaluation.comparisons")


def covers(spec: Spec, arms: set[str], role: str) -> bool:
    """The role itself, or every arm of the spec that is one of its confirmation runs."""
    roles = roles_of(spec)
    planned = [
        arm.name for arm in spec.arms if not is_selection(arm) and role_of(arm, roles) == role
    ]
    return role in arms or (bool(planned) and all(name in arms for name in planned))

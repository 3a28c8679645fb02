"""What two runs have in common and where they differ, part by part.

Not compared, because two runs never share them: run ids, times, checkpoint addresses, and the
digests of files that hold any of these.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.report.changes import Change, changes
from rx_tools.report.page_facts import evaluator_facts, service, versions
from rx_tools.report.run_view import RunView

LEFT_OUT_OF_PLAN = ("schema", "rx_version", "spec_sha256", "derived_from", "experiment")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the comparison. `empty` says that neither run has anything there."""

    name: str
    changes: tuple[Change, ...]
    empty: bool

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.changes

    @property
    def largest(self) -> Change | None:
        """The numbers that are furthest apart."""
        numeric = [one for one in self.changes if one.distance is not None]
        return max(numeric, key=lambda one: one.distance or 0.0, default=None)


def compare(left: RunView, right: RunView, atol: float = 0.0) -> tuple[Part, ...]:
    """Every part, in the order in which a run comes to be."""
    parts = []
    for name, facts in FACTS.items():
        ours, theirs = facts(left), facts(right)
        found = tuple(changes(ours, theirs, atol))
        parts.append(Part(name, found, empty=not ours and not theirs))
    return tuple(parts)


def plan_facts(view: RunView) -> dict[str, Any]:
    """The plan without what names the spec's bytes, which are a part of their own."""
    return {key: value for key, value in view.plan.to_json().items() if key not in LEFT_OUT_OF_PLAN}


def version_facts(view: RunView) -> dict[str, str]:
    """Package → version."""
    pairs = [one.partition(" ") for one in versions(view)]
    return {"rx": str(view.run.meta.get("rx_version"))} | {name: rest for name, _, rest in pairs}


def service_facts(view: RunView) -> dict[str, Any]:
    """Who served, and whether it played another service."""
    return dict(service(view)) | {
        "rehearsal": view.run.rehearsal,
        "like": view.run.meta.get("like"),
    }


def evaluator_parts(view: RunView) -> dict[str, Any]:
    """Items → id and provenance of the evaluator."""
    return {
        one.items: {"id": one.id, "n_items": one.n_items, "provenance": dict(one.provenance)}
        for one in evaluator_facts(view.lines)
    }


def batch_facts(view: RunView) -> dict[str, list[Any]]:
    """Arm → digest of the batch of every update that counts."""
    return {
        arm.name: [row.get("batch_sha256") for row in arm.updates]
        for arm in view.arms
        if arm.updates
    }


def loss_facts(view: RunView) -> dict[str, list[Any]]:
    """Arm → training loss of every update that counts."""
    return {
        arm.name: [row.get("train_nll") for row in arm.updates] for arm in view.arms if arm.updates
    }


def selection_facts(view: RunView) -> dict[str, Any]:
    """Grid → the chosen rate and the score of every rate."""
    return {
        grid.id: {
            "selected": grid.selected,
            "scores": {f"{one.rate:g}": one.score for one in grid.points},
        }
        for grid in view.grids
    }


def score_facts(view: RunView) -> dict[str, Any]:
    """Arm → held-out score; the base model's first."""
    scores = {"base": view.base_score} | {arm.name: arm.score for arm in view.arms}
    return {name: score for name, score in scores.items() if score is not None}


def decision_facts(view: RunView) -> dict[str, Any]:
    """Verdict, reason, and the figures of every criterion."""
    figures = {
        one.id: {
            "mean": one.result.mean,
            "low": one.result.low,
            "high": one.result.high,
            "effects": {str(seed): value for seed, value in one.contrasts.items()},
        }
        for one in view.effects()
        if one.result
    }
    verdict = {"verdict": view.verdict, "outcome_reason": view.outcome_reason}
    return (verdict if view.verdict else {}) | figures


FACTS: Mapping[str, Callable[[RunView], Any]] = {
    "spec": lambda view: view.spec,
    "plan": plan_facts,
    "versions": version_facts,
    "service": service_facts,
    "deviations": lambda view: view.deviations,
    "gates": lambda view: {gate.name: gate.status for gate in view.gates},
    "evaluator": evaluator_parts,
    "batches": batch_facts,
    "training losses": loss_facts,
    "selection": selection_facts,
    "scores": score_facts,
    "decision": decision_facts,
}

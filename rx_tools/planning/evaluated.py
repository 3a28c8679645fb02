"""The record's `evaluation` section, from the frozen plan and what the ledger announced."""

from collections.abc import Iterable, Sequence
from typing import Any

from rx_tools.model.json import JsonObject
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import Plan


def evaluation_section(
    plan: Plan, frozen: Iterable[JsonObject], scored: Sequence[JsonObject]
) -> dict[str, Any]:
    """The evaluators, every score, and what is compared.

    `frozen` and `scored` are the data of the ledger's `evaluator_frozen` and `arm_scored`. The
    evaluator of a search is listed too: every row of predictions names its own.
    """
    metric = plan.evaluation.metric
    return {
        "version": 1,
        "evaluators": {str(one.get("evaluator_id")): one.get("provenance") for one in frozen},
        "scores": confirmation_scores(plan, scored),
        "comparisons": [
            {"metric": metric, "arms": list(dict.fromkeys(arm.role for arm in plan.confirmation))}
        ],
    }


def confirmation_scores(plan: Plan, scored: Sequence[JsonObject]) -> list[dict[str, Any]]:
    """One unrounded score per role and seed, and the base model's."""
    rows = []
    for data in scored:
        name = str(data.get("arm"))
        arm = plan.arm(name)
        if data.get("items") != "confirmation":
            continue
        row = {
            "arm": arm.role if arm else names.BASE,
            "metric": plan.evaluation.metric,
            "value": data.get("value"),
            "evaluator_id": data.get("evaluator_id"),
        }
        row |= {"seed": arm.seed} if arm else {}
        rows.append(row | {"predictions_ref": names.predictions_file(name)})
    return rows

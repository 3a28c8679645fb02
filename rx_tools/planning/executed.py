"""What only a finished run can show of its schedule, from the surviving updates of every arm."""

from collections.abc import Mapping, Sequence
from typing import Any

from rx_tools.model.json import JsonObject
from rx_tools.model.names import ArmName
from rx_tools.planning.plan import Plan

Rows = Mapping[ArmName, Sequence[JsonObject]]
"""Arm → its surviving updates, in order."""


def executed(plan: Plan, rows: Rows) -> dict[str, Any]:
    """Updates and first rate of every arm, and the share of batches that arms of a seed share."""
    return {
        "executed_steps": {arm.name: len(rows[arm.name]) for arm in plan.arms},
        "executed_learning_rate": {
            arm.name: rows[arm.name][0].get("learning_rate") for arm in plan.arms if rows[arm.name]
        },
        "batch_hash_match_across_arms": shared_batches(plan, rows),
    }


def shared_batches(plan: Plan, rows: Rows) -> float | None:
    """Share of confirmation batches that all arms of a seed trained on."""
    arms = plan.confirmation
    steps = min((len(rows[arm.name]) for arm in arms), default=0)
    batches = [
        [rows[arm.name][step].get("batch_sha256") for arm in arms if arm.seed == seed]
        for seed in {arm.seed for arm in arms}
        for step in range(steps)
    ]
    matches = [all(batch == same[0] for batch in same) for same in batches]
    return sum(matches) / len(matches) if matches else None

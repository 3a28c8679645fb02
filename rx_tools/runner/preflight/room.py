"""Will everything that the run publishes fit under the caps? Asked before anything trains.

The base model's predictions are the measure: every arm writes as many rows, a little longer.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import replace

from rx_tools.errors import DocumentError
from rx_tools.evidence.budget import Budget, budget_of, require_room
from rx_tools.planning import evidence_names as names
from rx_tools.planning.plan import Plan
from rx_tools.runner.whole.workbench import Workbench

LONGER_ROW = 200
"""Bytes by which an arm's row may be longer than the base model's: its name, its checkpoint."""
METRICS_ROW = 400
"""Bytes of one row of an arm's metrics; real ones have about 260."""
DOCUMENT = 64 << 10
"""Bytes kept for each document that is still to come."""


def require_evidence_room(bench: Workbench) -> Budget:
    """The budget at the end of the run; `DocumentError` with the arithmetic where a cap breaks."""
    base = bench.run.newest(names.predictions_file(names.BASE))
    size = base.stat().st_size if base else 0
    row = -(-size // max(len(bench.data.items("confirmation")), 1))
    present = {path.name for path in bench.run.evidence.iterdir()}
    return room_for(bench.plan, row, budget_of(bench.run.evidence), present)


def room_for(plan: Plan, row: int, used: Budget, present: Collection[str]) -> Budget:
    """The budget at the end; `row` is the size of a prediction of the base model, in bytes.

    A record names one file of predictions for each score, so a file above its cap is not split.
    """

    def missing(items: int) -> dict[str, int]:
        planned = still_to_come(replace(plan, data=replace(plan.data, n_eval=items)), row)
        return {name: size for name, size in planned.items() if name not in present}

    try:
        return require_room(used, missing(plan.data.n_eval))
    except DocumentError as error:
        fitting = bisect_left(
            range(plan.data.n_eval), True, key=lambda n: not fits(used, missing(n + 1))
        )
        fewer = f"score at most {fitting} of the {plan.data.n_eval} items"
        raise DocumentError(error.what, hint=fewer if fitting else error.hint) from error


def fits(used: Budget, planned: Mapping[str, int]) -> bool:
    """Whether no cap breaks."""
    try:
        require_room(used, planned)
    except DocumentError:
        return False
    return True


def still_to_come(plan: Plan, row: int) -> dict[str, int]:
    """File name → bytes at most, for every file of the plan that follows the base evaluation."""
    sizes = dict.fromkeys(names.planned_files(plan.arms, bool(plan.selection)), DOCUMENT)
    for arm in plan.arms:
        count = plan.data.held_out if arm.phase == "selection" else plan.data.n_eval
        sizes[names.metrics_file(arm.name)] = arm.steps * METRICS_ROW
        sizes[names.predictions_file(arm.name)] = count * (row + LONGER_ROW)
    sizes[names.OBSERVATIONS] = len(plan.confirmation) * plan.data.n_eval * row
    return sizes

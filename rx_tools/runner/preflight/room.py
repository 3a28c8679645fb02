"""Will everything that the run publishes fit under the caps? Asked before anything trains.

The base model's predictions are the measure: every arm writes as many rows, a little longer.
"""

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
    planned = still_to_come(bench.plan, size, len(bench.data.items("confirmation")))
    present = {path.name for path in bench.run.evidence.iterdir()}
    missing = {name: size for name, size in planned.items() if name not in present}
    return require_room(budget_of(bench.run.evidence), missing)


def still_to_come(plan: Plan, base_size: int, items: int) -> dict[str, int]:
    """File name → bytes at most, for every file of the plan that follows the base evaluation."""
    row = -(-base_size // max(items, 1))
    sizes = dict.fromkeys(names.planned_files(plan.arms, bool(plan.selection)), DOCUMENT)
    for arm in plan.arms:
        count = plan.data.held_out if arm.phase == "selection" else plan.data.n_eval
        sizes[names.metrics_file(arm.name)] = arm.steps * METRICS_ROW
        sizes[names.predictions_file(arm.name)] = count * (row + LONGER_ROW)
    sizes[names.OBSERVATIONS] = len(plan.confirmation) * plan.data.n_eval * row
    return sizes

"""What only finished arms can show, measured from the ledger and held against the schedule."""

from collections.abc import Sequence
from typing import Any

from rx_tools.evidence.ledger import LedgerLine
from rx_tools.model.names import Gate
from rx_tools.model.result import Status
from rx_tools.planning.evidence_names import AFTERWARDS
from rx_tools.planning.executed import executed
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.arms.resume import arm_history
from rx_tools.runner.whole.experiment import rate_of
from rx_tools.runner.whole.gates import first_reasons
from rx_tools.runner.whole.workbench import Workbench


def differences(bench: Workbench, lines: Sequence[LedgerLine], arm: PlannedArm) -> list[str]:
    """One sentence for each way in which the arm did not run as its schedule said."""
    rows = arm_history(lines, arm.name).rows
    found = []
    if len(rows) != arm.steps:
        found.append(f"{arm.name}: {len(rows)} updates, scheduled {arm.steps}")
    batches = [row["batch_sha256"] for row in rows]
    scheduled = [bench.data.batch_digest(arm.seed, step) for step in range(len(rows))]
    wrong = [step for step, batch in enumerate(batches) if batch != scheduled[step]]
    if wrong:
        found.append(f"{arm.name}: step {wrong[0]} trained on another batch than scheduled")
    rate = rate_of(bench, arm)
    planned = [bench.plan.schedule.rate(rate, step, arm.steps) for step in range(len(rows))]
    moved = [step for step, row in enumerate(rows) if row["learning_rate"] != planned[step]]
    if moved:
        found.append(f"{arm.name}: step {moved[0]} ran at another rate than scheduled")
    return found


def measured_again(bench: Workbench) -> dict[str, Any]:
    """Updates, first rate and batch matches of every arm, and every difference."""
    lines = bench.ledger.lines
    rows = {arm.name: arm_history(lines, arm.name).rows for arm in bench.plan.arms}
    found = [text for arm in bench.plan.arms for text in differences(bench, lines, arm)]
    return executed(bench.plan, rows) | {"differences": found}


def judge_schedule(bench: Workbench) -> None:
    """Publish the second measurement; a difference fails the activation gate."""
    if AFTERWARDS in {name for line in bench.ledger.lines for name in line.files}:
        return
    again = measured_again(bench)
    published = bench.publish_json(AFTERWARDS, again)
    files = {published.name: published.sha256}
    bench.ledger.append("probe_finished", {"probe": "activation after the run"}, files)
    if again["differences"]:
        reasons = first_reasons(again["differences"])
        data = {"gate": Gate.ACTIVATION.value, "status": Status.FAILED.value, "reasons": reasons}
        bench.ledger.append("gate_judged", data)

"""From scored arms to the final record: observation rows, the recomputed decision, the outcome."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rx_tools.checks.deciding.circumstances import Circumstances
from rx_tools.checks.deciding.decide import Decision, decide
from rx_tools.checks.deciding.shown import criterion_entry
from rx_tools.checks.validation import JUDGES, judge_all
from rx_tools.errors import IntegrityError
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.ledger import LedgerLine
from rx_tools.evidence.observations import cross_check, within_limits
from rx_tools.evidence.retained import retained_evidence
from rx_tools.model.json import as_object, as_text
from rx_tools.model.names import CheckpointUri, Gate, Sha256
from rx_tools.model.record import Record
from rx_tools.model.spec import Spec
from rx_tools.planning import evidence_names as names
from rx_tools.planning.figures import closing_summary, decision_figures
from rx_tools.planning.plan import PlannedArm
from rx_tools.runner.arms.score_rows import ScoredAs, jsonl, observation_rows
from rx_tools.runner.arms.scoring import ItemScore, Scores
from rx_tools.runner.whole.afterwards import judge_schedule
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.gates import judged_line
from rx_tools.runner.whole.record import Outcome, assemble, declared, post, scored_arms
from rx_tools.runner.whole.workbench import Workbench

AFTERWARDS = (Gate.EVALUATOR, Gate.LOSS_EVAL)
ENDING = (Gate.DECISION, Gate.EVIDENCE, Gate.RECORD)
"""Judged on the final record; no decision hangs on them."""


def conclude(bench: Workbench) -> tuple[Decision, dict[str, Any]]:
    """Publish the rows, judge what training left behind, decide, and post the final record.

    A run that is concluded already gives the same answer and is not written to again.
    """
    rows = list(all_rows(bench))
    items = len(bench.data.items("confirmation"))
    data = within_limits(jsonl(rows), items=items, cells=len(bench.plan.confirmation))
    published = bench.run.put_evidence(names.OBSERVATIONS, data)
    if concluded(bench):
        return recompute(bench, rows), dict(bench.run.record())
    judge_schedule(bench)
    judge_afterwards(bench)
    decision = recompute(bench, rows)
    made = {"verdict": decision.verdict, "outcome_reason": decision.outcome_reason}
    bench.ledger.append("decision_made", made, {published.name: published.sha256})
    outcome = outcome_of(bench, decision)
    judge_ending(bench, outcome)
    return decision, post(bench.run, bench.ledger, "", outcome)


def concluded(bench: Workbench) -> bool:
    """Whether the decision is in the ledger and the final record was posted."""
    final = bench.run.record().get("status") == "succeeded"
    return final and bool(events(bench.ledger.lines, "decision_made"))


def judge_afterwards(bench: Workbench) -> None:
    """The gates on what only a finished run can show: evaluator and held-out loss record."""
    record = assemble(bench.run, bench.ledger.lines, "All arms are trained and scored.")
    evidence = retained_evidence(record, bench.run.evidence)
    for gate in AFTERWARDS:
        result = JUDGES[gate](Spec.of(bench.spec), Record.of(record), evidence)
        bench.ledger.append("gate_judged", judged_line(gate, result))


def judge_ending(bench: Workbench, outcome: Outcome) -> None:
    """The gates on the record as a whole, before it is posted as the final one."""
    record = assemble(bench.run, bench.ledger.lines, "", outcome)
    results = judge_all(bench.spec, record, retained_evidence(record, bench.run.evidence))
    for gate in ENDING:
        bench.ledger.append("gate_judged", judged_line(gate, results[gate]))


def all_rows(bench: Workbench) -> Iterator[dict[str, Any]]:
    """One row for every confirmation arm, item and seed, from the published predictions.

    Every arm's rows have the mean that the ledger holds for it, to 1e-12.
    """
    for arm in bench.plan.confirmation:
        scores, told = published_scores(bench, arm)
        rows = list(observation_rows(scores, told, bench.plan.evaluation.aggregation))
        stated = scored_line(bench.ledger.lines, arm.name).data["value"]
        cross_check(arm.name, [row["value"] for row in rows], stated)
        yield from rows


def published_scores(bench: Workbench, arm: PlannedArm) -> tuple[Scores, ScoredAs]:
    """An arm's scores read back from its predictions file, whose hash the ledger holds."""
    line = scored_line(bench.ledger.lines, arm.name)
    name = names.predictions_file(arm.name)
    path = bench.run.evidence / name
    if sha256_file(path) != line.files.get(name):
        raise IntegrityError(
            "is not what was scored", where=str(path), hint="its bytes changed after scoring"
        )
    rows = [json.loads(row) for row in path.read_bytes().split(b"\n") if row]
    items = tuple(
        ItemScore(
            row["item_id"],
            row["prediction"]["nll_sum"],
            row["prediction"]["n_tokens"],
            Sha256(row["reference"]["datum_sha256"]),
        )
        for row in rows
    )
    told = ScoredAs(
        arm=arm.name,
        role=arm.role,
        seed=arm.seed,
        metric=str(line.data["metric"]),
        evaluator_id=str(line.data["evaluator_id"]),
        checkpoint=CheckpointUri(str(rows[0]["checkpoint"])) if rows else None,
    )
    return Scores(items, Sha256(str(line.data["output_sha256"]))), told


def scored_line(lines: Sequence[LedgerLine], arm: str) -> LedgerLine:
    """The line that announced an arm's scores."""
    return next(line for line in lines if line.event == "arm_scored" and line.data["arm"] == arm)


def recompute(bench: Workbench, rows: Sequence[Mapping[str, Any]]) -> Decision:
    """The frozen rule over the rows, under everything else that the verdict hangs on."""
    return decide(
        bench.spec.get("decision_rule"),
        rows,
        items=list(bench.data.items("confirmation")),
        reading=dict(bench.plan.readings),
        circumstances=circumstances(bench),
    )


def circumstances(bench: Workbench) -> Circumstances:
    """Arms, deviations, selection and gates, from the ledger."""
    lines = bench.ledger.lines
    stated = declared(lines)
    frozen = events(lines, "selection_frozen")
    adaptive = as_object(as_object(bench.spec.get("decision_rule")).get("adaptive_selection"))
    return Circumstances(
        arms=[arm.name for arm in bench.plan.arms],
        completed_arms=list(scored_arms(bench.run, lines)),
        original_hypothesis_tested=stated["original_hypothesis_tested"],
        deviations=stated["deviations"],
        adaptive_selection=bool(adaptive),
        kind=as_text(adaptive.get("kind")) or None,
        selection=as_object(frozen[-1]["selection"]) if frozen else {},
        search_item_ids=list(bench.data.items("search")) if adaptive else None,
        confirmation_item_ids=list(bench.data.items("confirmation")) if adaptive else None,
        grids={grid.id: grid.learning_rates for grid in bench.plan.grids},
        selected=as_object(frozen[-1]["selected"]) if frozen else {},
        gates=gate_statuses(lines),
        accepted_unverified=[str(data["gate"]) for data in events(lines, "unverified_accepted")],
    )


def gate_statuses(lines: Sequence[LedgerLine]) -> dict[str, str]:
    """The latest status of every gate that the decision hangs on."""
    told = {str(data["gate"]): str(data["status"]) for data in events(lines, "gate_judged")}
    return {gate: status for gate, status in told.items() if gate not in ENDING}


def outcome_of(bench: Workbench, decision: Decision) -> Outcome:
    """The record's ending. What was tested in place of the hypothesis keeps its own verdict."""
    accepted = [str(data["gate"]) for data in events(bench.ledger.lines, "unverified_accepted")]
    criteria = [criterion_entry(criterion) for criterion in decision.criteria]
    return Outcome(
        status="succeeded",
        verdict=decision.verdict,
        reason=decision.outcome_reason,
        summary=closing_summary(
            bench.plan, bench.spec["base_model"], accepted, criteria, decision.outcome_reason
        ),
        figures=decision_figures(criteria),
    )

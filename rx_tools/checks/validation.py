"""Everything that the server would answer to a spec, its record and its evidence."""

from collections.abc import Mapping
from typing import Any

from rx_tools.checks import (
    activation,
    correctness,
    decision,
    evaluator,
    feasibility,
    generation_audit,
    loss_eval,
    restoration,
)
from rx_tools.checks import (
    evidence as evidence_check,
)
from rx_tools.checks import (
    record as record_check,
)
from rx_tools.checks.judge import Judge
from rx_tools.model.evidence import Evidence, inline_evidence
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result
from rx_tools.model.spec import Spec

JUDGES: Mapping[Gate, Judge] = {
    Gate.CORRECTNESS: correctness.judge,
    Gate.RESTORATION: restoration.judge,
    Gate.ACTIVATION: activation.judge,
    Gate.FEASIBILITY: feasibility.judge,
    Gate.GENERATION_AUDIT: generation_audit.judge,
    Gate.EVALUATOR: evaluator.judge,
    Gate.LOSS_EVAL: loss_eval.judge,
    Gate.DECISION: decision.judge,
    Gate.EVIDENCE: evidence_check.judge,
    Gate.RECORD: record_check.judge,
}
"""The judge of every gate, in the order of every report."""

ANSWERS: Mapping[str, Gate] = {
    "correctness_validation": Gate.CORRECTNESS,
    "restoration_validation": Gate.RESTORATION,
    "activation_validation": Gate.ACTIVATION,
    "feasibility": Gate.FEASIBILITY,
    "generation_audit_validation": Gate.GENERATION_AUDIT,
    "evaluator_validation": Gate.EVALUATOR,
    "loss_eval_validation": Gate.LOSS_EVAL,
    "decision_validation": Gate.DECISION,
    "evidence_validation": Gate.EVIDENCE,
    "record_validation": Gate.RECORD,
}
"""The server's name of each answer."""


def judge_all(spec: object, record: object, evidence: Evidence | None = None) -> dict[Gate, Result]:
    """The result of every gate, in report order.

    `spec` and `record` are documents or views of them. Without `evidence` only what the record
    carries inline counts as retained.
    """
    view = spec if isinstance(spec, Spec) else Spec.of(spec)
    update = record if isinstance(record, Record) else Record.of(record)
    retained = inline_evidence(update.raw) if evidence is None else evidence
    results: dict[Gate, Result] = {
        gate: judge(view, update, retained)
        for gate, judge in JUDGES.items()
        if gate is not Gate.DECISION
    }
    statuses = {gate.value: result.status for gate, result in results.items()}
    results[Gate.DECISION] = decision.judge(view, update, retained, statuses)
    return {gate: results[gate] for gate in JUDGES}


def validate(spec: object, record: object, evidence: Evidence | None = None) -> dict[str, Any]:
    """The answers of `judge_all` as one document, under the server's names and in its shapes."""
    results = judge_all(spec, record, evidence)
    return {name: dict(results[gate].details) for name, gate in ANSWERS.items()}

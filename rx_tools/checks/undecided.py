"""The loss record and the decision, as far as they can be answered without rows."""

from rx_tools.checks.applicability import check_applicability
from rx_tools.model.evidence import Evidence
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec
from rx_tools.numerics.loss_eval import NO_RECORD, check

NOT_RETAINED = "Observation file name/hash is not retained for this run."


def judge_decision(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Unverified unless the gate does not apply."""
    applies = check_applicability(spec.raw, Gate.DECISION)
    status = Status.UNVERIFIED if applies["enforce"] else Status.NOT_APPLICABLE
    details = {
        "status": status.value,
        "issues": [NOT_RETAINED] if applies["enforce"] else [],
        "criteria": [],
        "outcome_reason": "insufficient_evidence",
        "applicability": applies,
    }
    reasons = (Finding("RX430", Level.UNVERIFIED, NOT_RETAINED, "$.decision"),)
    return Result(status, reasons if applies["enforce"] else (), details)


def judge_loss_eval(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Every problem of the loss record."""
    applies = check_applicability(spec.raw, Gate.LOSS_EVAL)
    issues = check(spec.raw, record.raw.get("loss_eval")) if applies["enforce"] else []
    if applies["enforce"] and not record.section("loss_eval"):
        issues = issues or [NO_RECORD]
    status = Status.UNVERIFIED if issues else Status.PASSED
    if not applies["enforce"]:
        status = Status.NOT_APPLICABLE
    reasons = tuple(Finding("RX420", Level.UNVERIFIED, issue, "$.loss_eval") for issue in issues)
    return Result(status, reasons, {"status": status.value, "issues": issues})

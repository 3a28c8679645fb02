"""The record as a whole is complete, and says the same everywhere.

**What.** A known status; a summary; at the end a verdict; completed arms by name, each with finite
metrics; every deviation with its original, its replacement and its reason; and whether the original
hypothesis was tested. On top of that all rules on records: their codes have pages of their own.

**Why.** These few words are what people read. `succeeded` says that execution completed, and
nothing about the hypothesis; a changed objective no longer tests it, whatever came out.

**Fix.** Take the verdict from `rx decide`, leave it out while running, declare deviations while the
status is `running` and before training with the change; an empty list says that nothing changed.

**Source.** Exchange contract, section 12.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.deviations import deviation_problems
from rx_tools.checks.grading import Problem, Rule, examine, grade, one_of, text, worst
from rx_tools.checks.metrics import arm_problems, metric_problems
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject
from rx_tools.model.record import OUTCOME_REASONS, VERDICTS, Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX390": "a member that every record owes is missing or malformed",
    "RX395": "a completed arm is unknown or has no metrics",
    "RX396": "a metric is no finite number",
    "RX398": "a deviation is incomplete",
}

STATUSES = ("running", "succeeded", "failed")


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The record's own rules; `details` is in the style of the server's answers. Never raises."""
    problems = [
        *member_problems(record.raw),
        *arm_problems(spec, record),
        *metric_problems(record),
        *deviation_problems(record.raw),
    ]
    status = worst(problem.status for problem in problems)
    details = {"status": status.value, "issues": [problem.message for problem in problems]}
    return Result(status, tuple(problem.finding for problem in problems), details)


def member_problems(raw: JsonObject) -> Iterator[Problem]:
    """What every record owes, and what a finished one owes on top of it."""
    rules: dict[str, Rule] = {
        "status": one_of(*STATUSES),
        "summary": text,
        "original_hypothesis_tested": flag,
    }
    if raw.get("status") != "running":
        rules["verdict"] = one_of(*VERDICTS)
    if raw.get("outcome_reason") is not None:
        rules["outcome_reason"] = one_of(*OUTCOME_REASONS)
    yield from examine(raw, rules, "RX390", "record", "$")


def flag(value: object) -> Status:
    """Either boolean."""
    return grade(value, lambda item: isinstance(item, bool))

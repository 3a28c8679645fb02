"""The record as a whole is complete, and says the same everywhere.

**What.** A known status; a summary; at the end a verdict; completed arms by name, and finite
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
from rx_tools.checks.record_rules import arms, capacity, deviations, summary, verdict
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject
from rx_tools.model.record import OUTCOME_REASONS, VERDICTS, Record
from rx_tools.model.result import Level, Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX390": "a member that every record owes is missing or malformed",
    "RX395": "a completed arm is listed twice, unknown or without metrics",
    "RX396": "a metric is no finite number",
    "RX398": "a deviation is incomplete",
}

FAMILIES = (verdict, capacity, summary, deviations, arms)
DECIDING = (Level.ERROR, Level.UNVERIFIED)
STATUSES = ("running", "succeeded", "failed")


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The record's own rules; `details` is in the style of the server's answers. Never raises."""
    problems = [
        *member_problems(record.raw),
        *arm_problems(spec, record),
        *metric_problems(record),
        *deviation_problems(record.raw),
    ]
    families = [family.judge(spec, record, evidence) for family in FAMILIES]
    found = [problem.finding for problem in problems]
    found += [finding for family in families for finding in family.reasons]
    status = worst(item.status for item in (*problems, *families))
    issues = [finding.message for finding in found if finding.level in DECIDING]
    return Result(status, tuple(found), {"status": status.value, "issues": issues})


def member_problems(raw: JsonObject) -> Iterator[Problem]:
    """What every record owes; a verdict and a reason only in the contract's words."""
    rules: dict[str, Rule] = {
        "status": one_of(*STATUSES),
        "summary": text,
        "original_hypothesis_tested": flag,
    }
    words = {"verdict": one_of(*VERDICTS), "outcome_reason": one_of(*OUTCOME_REASONS)}
    rules |= {key: rule for key, rule in words.items() if raw.get(key) is not None}
    yield from examine(raw, rules, "RX390", "record", "$")


def flag(value: object) -> Status:
    """Either boolean."""
    return grade(value, lambda item: isinstance(item, bool))

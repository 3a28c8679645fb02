"""The files that back the record: complete, immutable, hashed, free of credentials.

**What.** Names, kinds, sizes and hashes of the listed files; where larger ones are retained; rows
of predictions; references from the record to files; checkpoint URIs; and nothing that looks like a
credential. Kinds that every run owes and does not have leave the gate `unverified`.

**Why.** A number without its file cannot be recomputed, and a leaked key cannot be taken back.

**Fix.** Post each stage's files under new names before cleanup; put bytes in `content` or behind an
HTTPS `/attachments/…` URL; read credentials from environment variables.

**Source.** Exchange contract, sections 7 and 11.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.evidence_files import cap_problems, file_problems, name_problems
from rx_tools.checks.evidence_refs import checkpoint_problems, reference_problems
from rx_tools.checks.grading import Problem, examine, number, worst
from rx_tools.checks.prediction_rows import prediction_problems
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_object, is_integer
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX380": "no evidence was recorded, or a kind that every run owes is missing",
    "RX381": "an evidence file is listed incompletely or twice",
    "RX382": "a file name is not portable, or collides with another",
    "RX383": "a cap is exceeded: 10 MiB a file, 64 files and 40 MiB a run",
    "RX384": "a file is not retained, or its bytes do not have the stated hash",
    "RX385": "a file is referred to by a URL that is no HTTPS attachment",
    "RX386": "something looks like a credential",
    "RX387": "a row of predictions lacks what identifies it",
    "RX388": "the record refers to a file that is not retained",
    "RX389": "a checkpoint reference is malformed",
}

SECTION = "$.evidence"
OWED = ("script", "effective_config", "code_revision", "predictions")


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The evidence gate; `details` is in the style of the server's answers. Never raises."""
    problems = list(problems_of(spec, record, evidence))
    status = worst(problem.status for problem in problems)
    details = {
        "status": status.value,
        "issues": [item.message for item in problems if item.status is not Status.PASSED],
        "files": len(record.files),
        "missing_kinds": missing_kinds(spec, record),
    }
    return Result(status, tuple(problem.finding for problem in problems), details)


def problems_of(spec: Spec, record: Record, evidence: Evidence) -> Iterator[Problem]:
    """What is wrong with the section, the files, and the references to them."""
    section = record.section("evidence")
    if not section:
        yield Problem(Status.UNVERIFIED, "RX380", "Evidence not recorded.", SECTION)
        return
    version = section.get("version")
    if not (is_integer(version) and version == 1):
        status = Status.UNVERIFIED if version is None else Status.INVALID
        yield Problem(status, "RX381", "evidence.version is not 1.", f"{SECTION}.version")
    yield from file_problems(section, evidence)
    yield from name_problems(record)
    yield from cap_problems(record, evidence)
    for kind in missing_kinds(spec, record):
        message = f"No evidence of kind {kind} is recorded."
        yield Problem(Status.UNVERIFIED, "RX380", message, f"{SECTION}.files")
    yield from metric_problems(record, as_object(section.get("per_arm_metrics")))
    yield from prediction_problems(record, evidence)
    yield from reference_problems(record, evidence)
    yield from checkpoint_problems(section)


def metric_problems(record: Record, per_arm: JsonObject) -> Iterator[Problem]:
    """Every completed arm has metrics, and metrics are finite numbers."""
    place = f"{SECTION}.per_arm_metrics"
    for arm in (*per_arm, *(name for name in record.completed_arms if name not in per_arm)):
        values = as_object(per_arm.get(arm))
        if not values and per_arm:
            message = f"per_arm_metrics: {arm} has none."
            yield Problem(Status.UNVERIFIED, "RX380", message, below(place, arm))
        rules = dict.fromkeys(values, number)
        yield from examine(values, rules, "RX381", f"per_arm_metrics: {arm}", below(place, arm))


def missing_kinds(spec: Spec, record: Record) -> list[str]:
    """The kinds that this run owes and has no file of."""
    generates = check_applicability(spec.raw, Gate.GENERATION_AUDIT)["enforce"]
    owed = [*OWED, "generated_tasks"] if generates else [*OWED]
    present = {file.kind for file in record.files}
    missing = [kind for kind in owed if kind not in present]
    if not as_object(record.section("evidence").get("per_arm_metrics")):
        missing.append("per_arm_metrics")
    return missing

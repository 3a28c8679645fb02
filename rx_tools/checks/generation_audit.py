"""Labels of generated training data were re-solved independently before training.

**What.** A deterministic sample of the accepted tasks, each solved again from its text alone, its
answer compared exactly with the stored label; and no prompt of the full evaluation set among them.

**Why.** Running the generator's own code checks that it runs, not that its labels are right.

**Fix.** Freeze both JSONL files, draw the sample with `select_sample`, let somebody who has seen
neither answer nor code solve it, and repair or reject what disagrees in new file versions.

**Source.** Exchange contract, section 10. Agreement with a declared solution is agreement, no more.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rx_tools.checks.answers import STRATEGIES, answer_agreement
from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.audit_sample import duplicate_prompts, evaluation_overlap, select_sample
from rx_tools.checks.grading import (
    Problem,
    examine,
    integer,
    is_text,
    one_of,
    same,
    shown,
    text,
    true,
    worst,
)
from rx_tools.checks.rows import Row, RowError, rows_of
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject, as_list, as_object, as_text, is_integer
from rx_tools.model.json_path import below
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX370": "no generation audit was recorded",
    "RX371": "the audit's report is incomplete or malformed",
    "RX372": "a file of generated tasks is not retained or cannot be read",
    "RX373": "the reported counts are not those of the retained files",
    "RX374": "the sample is not the one that the seed selects",
    "RX375": "a sampled task was not re-solved independently",
    "RX376": "answers cannot be compared by the declared strategy",
    "RX377": "more label errors than the spec allows",
    "RX378": "generated tasks overlap the evaluation set",
    "RX379": "accepted tasks repeat a prompt",
}

SECTION = "$.generation_audit"
NOTHING = "Generation audit not recorded."
DEFAULT_SAMPLE = 100
DISPOSITIONS = {
    "accepted": "accepted",
    "rejected": "rejected",
    "execution_errors": "execution_error",
}
REPORT_RULES = {
    "stage": one_of("before_training"),
    "dataset_file": text,
    "evaluation_file": text,
    "audit_file": text,
    "sample_seed": integer,
    "label_error_count": integer,
    "overlap_count": integer,
}
SAMPLE_RULES = {
    "item_id": text,
    "resolver_id": text,
    "method": one_of("independent_resolve"),
    "reasoning": text,
    "blind_to_label": true,
}


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """The generation audit; `details` is the server's answer. Never raises."""
    applies = check_applicability(spec.raw, Gate.GENERATION_AUDIT)
    if not applies["enforce"]:
        return answer(Status.NOT_APPLICABLE, applies["reasons"], (), applies)
    report = record.section("generation_audit")
    files = [retained(evidence, report, key) for key in ("dataset_file", "evaluation_file")]
    rows = [found for found, _ in files]
    problems = [problem for _, problem in files if problem and report]
    plan = as_object(spec.raw.get("generation_audit"))
    problems += problems_of(report, plan, rows[0], rows[1], require_comparison=True)
    status = worst(problem.status for problem in problems)
    return answer(status, messages(problems), problems, applies)


def answer(
    status: Status, reasons: Sequence[str], problems: Sequence[Problem], applies: dict[str, Any]
) -> Result:
    """The gate's answer in the server's shape."""
    details = {"status": status.value, "reasons": list(reasons), "applicability": applies}
    return Result(status, tuple(problem.finding for problem in problems), details)


def validate(
    report: JsonObject,
    plan: JsonObject,
    *,
    tasks: Sequence[Row],
    evaluation: Sequence[Row],
    require_comparison: bool = True,
) -> dict[str, Any]:
    """`{"status", "reasons"}` of a report against `spec.generation_audit` and both frozen files.

    Training may begin only when the status is `passed`. Without `require_comparison` an undeclared
    comparison strategy leaves answers uncompared instead of unverified.
    """
    problems = problems_of(
        as_object(report), as_object(plan), tasks, evaluation, require_comparison
    )
    status = worst(problem.status for problem in problems)
    return {"status": status.value, "reasons": messages(problems)}


def messages(problems: Sequence[Problem]) -> list[str]:
    """What decides, in words; warnings decide nothing."""
    return [problem.message for problem in problems if problem.status is not Status.PASSED]


def retained(
    evidence: Evidence, report: JsonObject, key: str
) -> tuple[list[Row] | None, Problem | None]:
    """The rows of a file that the report names, or why there are none."""
    name, place = as_text(report.get(key)), f"{SECTION}.{key}"
    file = evidence.get(name)
    if file is None or file.kind != "generated_tasks":
        message = f"{key}: {name or 'the file'} is not retained as generated_tasks for this run."
        return None, Problem(Status.UNVERIFIED, "RX372", message, place)
    try:
        return rows_of(file), None
    except RowError as error:
        return None, Problem(Status.INVALID, "RX372", f"{key}: {error}.", place)


def problems_of(
    report: JsonObject,
    plan: JsonObject,
    tasks: Sequence[Row] | None,
    evaluation: Sequence[Row] | None,
    require_comparison: bool,
) -> list[Problem]:
    """Every problem of a report; files that could not be read are reported by the caller."""
    if not report:
        return [Problem(Status.UNVERIFIED, "RX370", NOTHING, SECTION)]
    problems = [*version_problems(report), *strategy_problems(plan, require_comparison)]
    problems += examine(report, REPORT_RULES, "RX371", "generation audit", SECTION)
    if not as_text(report.get("audit_file")).endswith(".json"):
        message = "generation audit: audit_file names no .json file."
        problems.append(Problem(Status.INVALID, "RX371", message, f"{SECTION}.audit_file"))
    if tasks is None or evaluation is None:
        return problems
    problems += row_problems("dataset_file", tasks)
    problems += row_problems("evaluation_file", evaluation)
    problems += count_problems(report, tasks)
    problems += sample_problems(report, plan, tasks)
    problems += overlap_problems(report, plan, tasks, evaluation)
    repeated = duplicate_prompts(tasks)
    if repeated:
        message = f"{repeated} accepted tasks repeat the prompt of an earlier one."
        problems.append(Problem(Status.PASSED, "RX379", message, f"{SECTION}.dataset_file"))
    return problems


def version_problems(report: JsonObject) -> Iterator[Problem]:
    """The report is of version 1."""
    version = report.get("version")
    if not (is_integer(version) and version == 1):
        status = Status.UNVERIFIED if version is None else Status.INVALID
        message = "generation audit: version is not 1."
        yield Problem(status, "RX371", message, f"{SECTION}.version")


def strategy_problems(plan: JsonObject, require_comparison: bool) -> Iterator[Problem]:
    """A declared strategy that exists; limits that are counts."""
    strategy = plan.get("answer_comparison")
    if strategy not in STRATEGIES and (require_comparison or strategy is not None):
        message = "spec.generation_audit.answer_comparison is missing or unsupported."
        yield Problem(Status.UNVERIFIED, "RX376", message, SECTION, "spec")
    for key in ("min_sample_size", "max_label_errors", "max_eval_overlaps"):
        if plan.get(key) is not None and limit_of(plan, key, -1) < 0:
            message = f"spec.generation_audit.{key} is no count."
            yield Problem(Status.UNVERIFIED, "RX371", message, f"{SECTION}.{key}", "spec")


def limit_of(plan: JsonObject, key: str, otherwise: int) -> int:
    """A count of the spec."""
    value = plan.get(key)
    return value if is_integer(value) and value >= 0 else otherwise


def row_problems(key: str, rows: Sequence[Row]) -> Iterator[Problem]:
    """Rows with distinct ids and prompts to read; a dataset also has answers and dispositions."""
    place = f"{SECTION}.{key}"
    ids = [row.get("item_id") for row in rows]
    if not rows or not all(map(is_text, ids)) or len(set(map(str, ids))) != len(ids):
        message = f"{key}: item_id must be a distinct non-empty string in every row."
        yield Problem(Status.INVALID, "RX372", message, place)
    if not all(is_text(row.get("prompt")) for row in rows):
        yield Problem(Status.INVALID, "RX372", f"{key}: a row has no prompt.", place)
    dispositions = {
        row.get("disposition") if is_text(row.get("disposition")) else "" for row in rows
    }
    if key == "dataset_file" and not dispositions <= set(DISPOSITIONS.values()):
        message = f"{key}: disposition is not accepted, rejected or execution_error in every row."
        yield Problem(Status.INVALID, "RX372", message, place)


def count_problems(report: JsonObject, tasks: Sequence[Row]) -> Iterator[Problem]:
    """Reported counts against the rows."""
    counts = as_object(report.get("counts"))
    actual = {"generated": len(tasks)}
    for key, disposition in DISPOSITIONS.items():
        actual[key] = sum(task.get("disposition") == disposition for task in tasks)
    for key, number in actual.items():
        if not same(counts.get(key), number) or not is_integer(counts.get(key)):
            status = Status.UNVERIFIED if counts.get(key) is None else Status.FAILED
            message = f"counts.{key} is {shown(counts.get(key))}, the retained file has {number}."
            yield Problem(status, "RX373", message, f"{SECTION}.counts.{key}")
    if not actual["accepted"]:
        yield Problem(Status.UNVERIFIED, "RX373", "No accepted task to audit.", SECTION)


def sample_problems(
    report: JsonObject, plan: JsonObject, tasks: Sequence[Row]
) -> Iterator[Problem]:
    """The selected tasks, each re-solved once, blind, and agreeing with its label."""
    seed = report.get("sample_seed")
    if not is_integer(seed):
        return
    size = limit_of(plan, "min_sample_size", DEFAULT_SAMPLE) or DEFAULT_SAMPLE
    selected = {as_text(task.get("item_id")): task for task in select_sample(tasks, size, seed)}
    samples = [as_object(sample) for sample in as_list(report.get("samples"))]
    ids = [as_text(sample.get("item_id")) for sample in samples]
    if sorted(ids) != sorted(selected):
        status = Status.UNVERIFIED if set(ids) < set(selected) else Status.FAILED
        message = f"samples: {len(ids)} tasks, not the {len(selected)} that the seed selects."
        yield Problem(status, "RX374", message, f"{SECTION}.samples")
    for index, sample in enumerate(samples):
        place = below(SECTION, "samples", index)
        yield from examine(sample, SAMPLE_RULES, "RX375", f"sample {index + 1}", place)
    yield from label_problems(report, plan, selected, samples)


def label_problems(
    report: JsonObject, plan: JsonObject, selected: Mapping[str, Row], samples: list[JsonObject]
) -> Iterator[Problem]:
    """Disagreements are recounted, compared with the report and with the limit."""
    strategy = plan.get("answer_comparison")
    if strategy not in STRATEGIES:
        return
    errors = 0
    for sample in samples:
        task = selected.get(as_text(sample.get("item_id")), {})
        agrees = answer_agreement(task.get("answer"), sample.get("independent_answer"), strategy)
        errors += agrees is False
        if agrees is None:
            message = f"{sample.get('item_id')}: answers are not comparable by {strategy}."
            yield Problem(Status.UNVERIFIED, "RX376", message, f"{SECTION}.samples")
    yield from limit_problems(report, "label_error_count", errors, "RX377")
    if not errors <= limit_of(plan, "max_label_errors", 0):
        message = f"{errors} label errors in {len(samples)} re-solved tasks."
        yield Problem(Status.FAILED, "RX377", message, f"{SECTION}.samples")


def overlap_problems(
    report: JsonObject, plan: JsonObject, tasks: Sequence[Row], evaluation: Sequence[Row]
) -> Iterator[Problem]:
    """Overlaps are recounted, compared with the report and with the limit."""
    overlaps = len(evaluation_overlap(tasks, evaluation))
    yield from limit_problems(report, "overlap_count", overlaps, "RX378")
    if not overlaps <= limit_of(plan, "max_eval_overlaps", 0):
        message = f"{overlaps} generated tasks are prompts of the evaluation set."
        yield Problem(Status.FAILED, "RX378", message, SECTION)


def limit_problems(report: JsonObject, key: str, actual: int, code: str) -> Iterator[Problem]:
    """A reported count must be the recounted one."""
    reported = report.get(key)
    if is_integer(reported) and reported != actual:
        message = f"{key} is {reported}, recounted {actual}."
        yield Problem(Status.FAILED, code, message, f"{SECTION}.{key}")

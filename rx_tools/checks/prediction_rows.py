"""Rows of retained predictions: what each is of, and which evaluator made it."""

from collections.abc import Iterator

from rx_tools.checks.grading import Problem, is_text
from rx_tools.checks.prediction_rows_quick import is_faultless
from rx_tools.checks.rows import Row, RowError, rows_of
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object
from rx_tools.model.record import Record
from rx_tools.model.result import Status

FILES = "$.evidence.files"
PRESENT = ("prediction", "reference")
"""Members that a row must have; their value may be null: invalid outputs stay as rows."""


def prediction_problems(record: Record, evidence: Evidence) -> Iterator[Problem]:
    """Every retained file of predictions, up to its first row that is not usable."""
    evaluators = as_object(record.section("evaluation").get("evaluators"))
    listed = [file.name for file in record.files if file.kind == "predictions" and file.name]
    for name in listed:
        if name not in evidence:
            continue
        if is_faultless(evidence, name, set(evaluators)):
            continue
        try:
            rows = rows_of(evidence[name])
        except RowError as error:
            yield Problem(Status.INVALID, "RX387", f"{error}.", FILES)
            continue
        if not rows:
            yield Problem(Status.UNVERIFIED, "RX387", f"{name}: no rows.", FILES)
        yield from first_fault(name, rows, set(evaluators))


def first_fault(name: str, rows: list[Row], evaluators: set[str]) -> Iterator[Problem]:
    """The first row that lacks something; one problem is enough to send the file back."""
    identity = ("item_id", "arm", "metric", "evaluator_id") if evaluators else ("item_id", "arm")
    for number, row in enumerate(rows, start=1):
        lacking = [key for key in identity if not is_text(row.get(key))]
        lacking += [key for key in PRESENT if key not in row]
        if lacking:
            message = f"{name}: row {number} lacks {', '.join(lacking)}."
            yield Problem(Status.INVALID, "RX387", message, FILES)
            return
        if evaluators and row["evaluator_id"] not in evaluators:
            message = f"{name}: row {number} names an evaluator that is not recorded."
            yield Problem(Status.INVALID, "RX387", message, FILES)
            return

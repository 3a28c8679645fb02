"""A capacity block says why the run stopped, and the rest of the record says the same.

**What.** `capacity_block` names the error, the number of comparison steps that ran and whether own
clients were released; the record it stands in is `failed`, `inconclusive`, `incomplete_execution`.

**Why.** The block tells the exchange to queue the run again. Without the real step count it cannot
know whether anything is left to save, and beside another outcome it means nothing.

**Fix.** Let `rx` write it: after ten minutes of refusals, or thirty once steps ran. Leave it
out when anything else stopped the run.

**Source.** Exchange contract, sections 12 and 13.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import on_record, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import is_integer
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX206": "a capacity block stands beside another outcome",
    "RX207": "a capacity block does not say what happened",
}

PLACE = "$.capacity_block"
BESIDE = (
    ("status", "failed"),
    ("verdict", "inconclusive"),
    ("outcome_reason", "incomplete_execution"),
)


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record; not applicable without a capacity block."""
    if "capacity_block" not in record.raw:
        return Result(Status.NOT_APPLICABLE)
    return ruled([*outcome(record), *content(record)])


def outcome(record: Record) -> Iterator[Finding]:
    """Only a run that capacity stopped has a block."""
    for key, wanted in BESIDE:
        if record.raw.get(key) != wanted:
            message = f"with a capacity block {key} is {wanted!r}, not {record.raw.get(key)!r}"
            yield on_record("RX206", Level.ERROR, message, below("$", key))


def content(record: Record) -> Iterator[Finding]:
    """The error, the steps that ran, and whether clients were released."""
    block = record.capacity_block
    error, steps = block.get("error"), block.get("comparison_steps_completed")
    if not (isinstance(error, str) and error.strip()):
        yield on_record("RX207", Level.ERROR, "error is empty", below(PLACE, "error"))
    if not (is_integer(steps) and steps >= 0):
        message = "comparison_steps_completed is no count"
        place = below(PLACE, "comparison_steps_completed")
        yield on_record("RX207", Level.ERROR, message, place)
    if not isinstance(block.get("released_clients"), bool):
        message = "released_clients is neither true nor false"
        yield on_record("RX207", Level.ERROR, message, below(PLACE, "released_clients"))

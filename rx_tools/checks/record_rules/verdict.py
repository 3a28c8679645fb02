"""Verdict, outcome reason and status of a record agree.

**What.** `verdict` and `outcome_reason` are absent while a run goes on and present at its end; a
reason `supported` or `refuted` agrees with the verdict, the other four require `inconclusive`;
`supported` and `refuted` need every planned arm among `completed_arms`.

**Why.** A finished execution supports nothing by itself. A definitive verdict without every arm, or
against its own reason, is withheld by the exchange, and the finished arms are lost with it.

**Fix.** Leave `verdict` out until the end. Take verdict and reason from `rx decide`: it recomputes
both from the rows. When execution stopped early, say `failed`, `inconclusive` and
`incomplete_execution`.

**Source.** Exchange contract, section 12.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import on_record, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX201": "the outcome reason contradicts the verdict",
    "RX202": "a verdict or a reason stands in a record that is still running",
    "RX203": "a finished record has no verdict",
    "RX204": "a definitive verdict although not every planned arm completed",
    "RX205": "the status does not fit the outcome reason",
}

DEFINITE = ("supported", "refuted")
RUNNING = "running"


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record; the spec only for its arms."""
    found = [*timing(record), *agreement(record), *arms(spec, record), *status(record)]
    return ruled(found)


def timing(record: Record) -> Iterator[Finding]:
    """The end, and only the end, has a verdict."""
    if record.status == RUNNING:
        for key in ("verdict", "outcome_reason"):
            if key in record.raw:
                message = f"{key} is given while the run goes on"
                yield on_record("RX202", Level.ERROR, message, f"$.{key}")
    elif record.status is not None and record.verdict is None:
        message = f"status is {record.status}, but there is no verdict"
        yield on_record(
            "RX203", Level.ERROR, message, "$", "say inconclusive where it is not clear"
        )


def agreement(record: Record) -> Iterator[Finding]:
    """The reason belongs to the verdict."""
    verdict, reason = record.verdict, record.outcome_reason
    if verdict is None or reason is None:
        return
    wanted = reason if reason in DEFINITE else "inconclusive"
    if verdict != wanted:
        message = f"the reason {reason!r} requires the verdict {wanted!r}, not {verdict!r}"
        yield on_record("RX201", Level.ERROR, message, "$.outcome_reason")


def arms(spec: Spec, record: Record) -> Iterator[Finding]:
    """A definitive verdict rests on every arm."""
    if record.verdict not in DEFINITE:
        return
    missing = [name for name in spec.arm_names if name not in record.completed_arms]
    if missing:
        message = f"verdict {record.verdict!r} without {', '.join(missing)}"
        hint = "an incomplete comparison is inconclusive: incomplete_execution"
        yield on_record("RX204", Level.ERROR, message, "$.verdict", hint)


def status(record: Record) -> Iterator[Finding]:
    """`succeeded` means that execution completed; `failed` that it stopped."""
    if record.status == "succeeded" and record.outcome_reason == "incomplete_execution":
        message = "status is succeeded, but the reason says that execution did not finish"
        yield on_record("RX205", Level.ERROR, message, "$.status")
    elif record.status == "failed" and record.verdict in DEFINITE:
        message = f"status is failed, but the verdict is {record.verdict!r}"
        yield on_record("RX205", Level.ERROR, message, "$.status")

"""The projection is compared with the time that was then observed.

**What.** Where a record carries both a projection (its feasibility phases and reserve) and an
observed number of wall minutes among its metrics, the observed one is at most the projected one.

**Why.** The finished run `exp_9574bbb76e` projected 18.5 minutes and took 32.6: later setups,
queueing and retries were not in its pilot. The next run that reuses such a projection overruns its
budget.

**Fix.** Time the schedule that will really run, with setup and evaluation of every arm, and plan a
reserve for capacity waits. A run that is over cannot be mended: state the cause.

**Source.** Exchange contract, section 6; the finished run.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import on_record, ruled
from rx_tools.checks.spec_rules.budget import projected_seconds
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import is_number
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX216": "the observed time exceeds the projection",
    "RX217": "the observed time exceeds the budget",
}


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record; not applicable without an observed time."""
    observed = dict(observed_minutes(record))
    if not observed:
        return Result(Status.NOT_APPLICABLE)
    return ruled([*over_projection(record, observed), *over_budget(spec, observed)])


def observed_minutes(record: Record) -> Iterator[tuple[str, float]]:
    """Metrics that are named as wall-clock minutes."""
    for name, value in record.metrics.items():
        words = name.lower()
        if "wall" in words and "minute" in words and is_number(value):
            yield name, float(value)


def over_projection(record: Record, observed: Mapping[str, float]) -> Iterator[Finding]:
    """A warning: the pilot did not represent the run."""
    projected = projected_seconds(record.section("feasibility")) / 60
    for name, minutes in observed.items():
        if projected > 0 and minutes > projected:
            message = f"{minutes:g} minutes observed, {projected:.1f} projected"
            hint = "the pilot did not represent the run; do not reuse this projection"
            place = below("$.metrics", name)
            yield on_record("RX216", Level.WARNING, message, place, hint)


def over_budget(spec: Spec, observed: Mapping[str, float]) -> Iterator[Finding]:
    """A warning: the budget was not kept."""
    budget = spec.budget.max_wall_minutes
    for name, minutes in observed.items():
        if budget is not None and minutes > budget:
            message = f"{minutes:g} minutes observed, the budget has {budget:g}"
            yield on_record("RX217", Level.WARNING, message, below("$.metrics", name))

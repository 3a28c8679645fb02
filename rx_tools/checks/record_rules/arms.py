"""The arms that a record speaks of are the planned ones, with the same figures everywhere.

**What.** Checkpoints name planned arms, at their last planned step or before it, one per step; a
figure that stands in two places is the same in both; no completed arm is left out.

**Why.** A record is read by name: a misspelt arm is a missing arm. Two values for one figure leave
open which of them was measured.

**Fix.** Use the exact names of the spec, and write each figure once, unrounded.

**Source.** Exchange contract, sections 11 and 12.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rx_tools.checks.ruling import objects_at, on_record, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import as_object, is_integer, is_number
from rx_tools.model.json_path import below
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX230": "a checkpoint belongs to no planned arm",
    "RX231": "a completed arm is missing among the evidence of the arms",
    "RX232": "a figure has two values",
    "RX233": "a checkpoint lies beyond the arm's planned steps",
    "RX234": "one arm and step has two checkpoints",
}


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record; names against the spec where there is one."""
    found = [*two_values(record), *missing(record), *two_checkpoints(record)]
    if spec.arm_names:
        found += [*unplanned(spec, record), *beyond(spec, record)]
    return ruled(found)


def unplanned(spec: Spec, record: Record) -> Iterator[Finding]:
    """A checkpoint of an arm that nobody planned; untrained baselines have none."""
    evidence = record.section("evidence")
    for path, checkpoint in objects_at(evidence.get("checkpoints"), "$.evidence.checkpoints"):
        name = checkpoint.get("arm")
        if isinstance(name, str) and name not in spec.arm_names:
            message = f"a checkpoint of {name!r}, which is no planned arm"
            yield on_record("RX230", Level.WARNING, message, below(path, "arm"))


def missing(record: Record) -> Iterator[Finding]:
    """Where per-arm metrics or checkpoints are retained at all, each completed arm has some."""
    of_checkpoints = {checkpoint.arm for checkpoint in record.checkpoints}
    for what, arms in (("per_arm_metrics", set(retained(record))), ("checkpoints", of_checkpoints)):
        for name in record.completed_arms:
            if arms and name not in arms:
                message = f"{name!r} completed, but {what} has nothing of it"
                yield on_record("RX231", Level.UNVERIFIED, message, f"$.evidence.{what}")


def two_checkpoints(record: Record) -> Iterator[Finding]:
    """An arm has one checkpoint per step."""
    first: dict[tuple[str | None, int | None], str | None] = {}
    for checkpoint in record.checkpoints:
        place = checkpoint.arm, checkpoint.step
        if first.setdefault(place, checkpoint.uri) != checkpoint.uri:
            message = f"{checkpoint.arm!r} has two checkpoints at step {checkpoint.step}"
            yield on_record("RX234", Level.ERROR, message, "$.evidence.checkpoints")


def two_values(record: Record) -> Iterator[Finding]:
    """`metrics.arms` and `evidence.per_arm_metrics` agree where both speak."""
    kept = retained(record)
    for arm, metrics in record.arm_metrics.items():
        for name, value in metrics.items():
            other = kept.get(arm, {}).get(name, value)
            if is_number(value) and other != value:
                message = f"{name} of {arm!r} is {value} here and {other} among per_arm_metrics"
                yield on_record("RX232", Level.ERROR, message, below("$.metrics.arms", arm, name))


def retained(record: Record) -> Mapping[str, Mapping[str, Any]]:
    """`evidence.per_arm_metrics`."""
    metrics = as_object(record.section("evidence").get("per_arm_metrics"))
    return {arm: as_object(values) for arm, values in metrics.items()}


def beyond(spec: Spec, record: Record) -> Iterator[Finding]:
    """No checkpoint holds more updates than its arm was to make."""
    planned = {arm.name: spec.steps if arm.steps is None else arm.steps for arm in spec.arms}
    section = record.section("evidence")
    for path, checkpoint in objects_at(section.get("checkpoints"), "$.evidence.checkpoints"):
        step, last = checkpoint.get("step"), planned.get(str(checkpoint.get("arm")))
        if is_integer(step) and last is not None and step > last:
            message = f"a checkpoint at step {step} of an arm that was to make {last} steps"
            hint = "more steps than planned are a deviation"
            yield on_record("RX233", Level.ERROR, message, below(path, "step"), hint)

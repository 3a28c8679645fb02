"""Activation: every metric of the spec measured by name, or honestly not measured.

A measurement takes the pilot and the plan and returns one scalar, or None where it cannot tell.
Other packages add measurements under the entry point group `rx_tools.activation_metrics`: the
entry's name is the metric's, its object a function of the same shape.
"""

import math
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from rx_tools.evidence.tensors import load_tensors
from rx_tools.model.json import is_number
from rx_tools.numerics.spectrum import stable_rank
from rx_tools.planning.plan import PlannedMetric
from rx_tools.runner.preflight.pilot import Pilot, pilot_rate
from rx_tools.runner.whole.workbench import Workbench

Value: TypeAlias = float | int | str | None
Measurement: TypeAlias = Callable[[Workbench, Pilot, PlannedMetric], Value]
GROUP = "rx_tools.activation_metrics"


def one_scalar(values: set[Any]) -> Value:
    """The value on which all arms concerned agree; None where they differ or there is none."""
    return values.pop() if len(values) == 1 else None


def learning_rate(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """The configured base rate of the arms concerned."""
    arms = [bench.plan.arm(name) for name in metric.arms]
    return one_scalar({pilot_rate(bench, arm) for arm in arms if arm})


def steps(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """Updates per arm, bound by the schedule."""
    arms = [bench.plan.arm(name) for name in metric.arms]
    return one_scalar({arm.steps for arm in arms if arm})


def batch_size(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """Examples in every batch that the arms will read."""
    arms = [bench.plan.arm(name) for name in metric.arms]
    sizes = {
        len(bench.data.train_batch(arm.seed, step))
        for arm in arms
        if arm
        for step in (0, arm.steps - 1)
    }
    return one_scalar(sizes)


def batch_match(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """Share of steps whose batches are identical for all arms of a seed, from the order itself."""
    arms = [arm for name in metric.arms if (arm := bench.plan.arm(name))]
    matches = [
        len({bench.data.batch_digest(arm.seed, step) for arm in arms if arm.seed == seed}) == 1
        for seed in {arm.seed for arm in arms}
        for step in range(min(arm.steps for arm in arms))
    ]
    return sum(matches) / len(matches) if matches else None


def base_model(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """The model that the server says it trains."""
    return pilot.info.base_model


def lora_rank(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """The rank that the server says it trains."""
    return pilot.info.rank


def step_type(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """The class of the parameters passed to every optimizer step of the pilot."""
    return pilot.parameters_type


def loss_drop(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """Training loss at step 0 minus that at step 10, in nats."""
    drop = pilot.losses[0] - pilot.losses[10] if len(pilot.losses) > 10 else math.nan
    return drop if math.isfinite(drop) else None


def first_update_rank(bench: Workbench, pilot: Pilot, metric: PlannedMetric) -> Value:
    """Mean over layers of the normalized stable rank of the first update of B."""
    if pilot.adapters is None:
        return None
    before, after = (load_tensors(path) for path in pilot.adapters)
    ranks = [
        stable_rank(after[name] - before[name], pilot.info.rank)
        for name in sorted(after)
        if "lora_B" in name and name in before
    ]
    mean = math.fsum(ranks) / len(ranks) if ranks else math.nan
    return mean if math.isfinite(mean) else None


BY_PREFIX: Mapping[str, Measurement] = {
    "executed_learning_rate": learning_rate,
    "executed_steps": steps,
    "executed_batch_size": batch_size,
    "batch_hash_match_across_arms": batch_match,
    "executed_base_model": base_model,
    "executed_lora_rank": lora_rank,
    "executed_optimizer_step_type": step_type,
    "train_nll_drop": loss_drop,
    "pilot_train_nll_drop": loss_drop,
}


def measurement_of(metric: str) -> Measurement | None:
    """The measurement of a metric: an installed one of this very name, else a built-in family."""
    for entry in entry_points(group=GROUP, name=metric):
        found: Measurement = entry.load()
        return found
    if metric.endswith("_B_update_normalized_stable_rank_step1"):
        return first_update_rank
    return next((take for prefix, take in BY_PREFIX.items() if metric.startswith(prefix)), None)


def measure_activation(
    bench: Workbench, pilot: Pilot, supplied: Mapping[str, Value]
) -> dict[str, Any]:
    """The record's `activation_calibration`: what was measured, and a note on what was not."""
    values: dict[str, Value] = {}
    notes = [
        f"Pilot of {pilot.arm.name}: {pilot.steps} steps at base rate {pilot.learning_rate:g}, "
        f"schedule {bench.plan.schedule.kind}."
    ]
    for metric in bench.plan.activation:
        value, note = measured(bench, pilot, metric, supplied)
        if value is not None:
            values[metric.metric] = value
        if note:
            notes.append(note)
    return {"values": values, "note": " ".join(notes)}


def measured(
    bench: Workbench, pilot: Pilot, metric: PlannedMetric, supplied: Mapping[str, Value]
) -> tuple[Value, str]:
    """One metric's value, and the sentence that its origin or absence needs."""
    take = measurement_of(metric.metric)
    value = take(bench, pilot, metric) if take else None
    if value is not None and (isinstance(value, str) or is_number(value)):
        bound = " is bound by the schedule and measured again afterwards."
        return value, f"{metric.metric}{bound}" if metric.when == "schedule" else ""
    if metric.metric in supplied:
        return supplied[metric.metric], f"{metric.metric}: not measured here."
    return None, f"{metric.metric} was not measured: {metric.source}."

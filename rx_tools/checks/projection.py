"""From a timed pilot to the planned schedule: measured seconds per unit times planned units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from rx_tools.checks.grading import is_text
from rx_tools.model.json import JsonObject, as_object, is_integer, is_number

NAMES = ("setup", "training", "evaluation", "generation", "filter", "audit")


@dataclass(frozen=True, slots=True)
class Phase:
    """A projected phase; `gpu_hours` is null without explicit allocation evidence."""

    wall_seconds: float
    planned_units: float
    planned_samples: float
    gpu_hours: float | None

    @property
    def entry(self) -> dict[str, Any]:
        """The phase as the server words it."""
        return {
            "wall_seconds": self.wall_seconds,
            "planned_units": self.planned_units,
            "planned_samples": self.planned_samples,
            "gpu_hours": self.gpu_hours,
        }


def phases_of(measurements: JsonObject) -> dict[str, Phase]:
    """Every phase that was really timed, in the order in which they run."""
    found = {name: phase_of(as_object(measurements.get(name))) for name in NAMES}
    return {name: phase for name, phase in found.items() if phase is not None}


def phase_of(timed: Mapping[str, Any]) -> Phase | None:
    """One phase, or `None` unless seconds, units and planned units are finite and positive."""
    seconds, units, planned, samples = (
        timed.get(key) for key in ("seconds", "units", "planned_units", "samples")
    )
    if not (is_positive(seconds) and is_positive(units) and is_positive(planned)):
        return None
    if not (is_number(samples) and samples >= 0 and is_allocation(timed.get("gpu_count"))):
        return None
    wall, planned_samples = seconds / units * planned, samples / units * planned
    if not (is_number(wall) and is_number(planned_samples)):
        return None
    return Phase(wall, planned, planned_samples, gpu_hours_of(timed, wall))


def is_positive(value: object) -> TypeGuard[int | float]:
    """A finite number above zero."""
    return is_number(value) and value > 0


def is_allocation(gpus: object) -> bool:
    """No statement about GPUs, or a finite number of them."""
    return gpus is None or (is_number(gpus) and gpus >= 0)


def gpu_hours_of(timed: Mapping[str, Any], wall_seconds: float) -> float | None:
    """GPU hours where the allocation is evidenced; a phase without GPUs says 0."""
    gpus = timed.get("gpu_count")
    if not (is_number(gpus) and gpus >= 0 and is_text(timed.get("allocation_source"))):
        return None
    hours = wall_seconds * gpus / 3600
    return hours if is_number(hours) else None


def reserve_of(recovery: JsonObject) -> Phase | None:
    """The recovery reserve, which must be positive."""
    seconds = recovery.get("seconds")
    if not (is_positive(seconds) and is_allocation(recovery.get("gpu_count"))):
        return None
    return Phase(seconds, 1, 0.0, gpu_hours_of(recovery, seconds))


def yield_of(generation: JsonObject) -> dict[str, Any] | None:
    """Candidates and filter samples that the measured yield demands; `None` without a yield."""
    names = ("attempted", "accepted", "target_accepted", "filter_samples_per_candidate")
    counts = [generation.get(name) for name in names]
    if not all(is_integer(value) and value > 0 for value in counts):
        return None
    attempted, accepted, target, per_candidate = (int(value or 0) for value in counts)
    if accepted > attempted:
        return None
    candidates = -(-target * attempted // accepted)
    return {
        **dict(zip(names, (attempted, accepted, target, per_candidate), strict=True)),
        "yield": accepted / attempted,
        "planned_candidates": candidates,
        "planned_filter_samples": candidates * per_candidate,
    }

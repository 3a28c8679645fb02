"""Feasibility: what the full run will take, projected from phases that were really timed."""

from dataclasses import dataclass
from typing import Any

from rx_tools.model.json import as_object, as_text, is_number
from rx_tools.planning.evidence_names import FEASIBILITY
from rx_tools.planning.projected import planned_units
from rx_tools.runner.preflight.pilot import Pilot
from rx_tools.runner.whole.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Timing:
    """Wall seconds of one phase over its units, and how many units the plan holds."""

    seconds: float
    units: int
    planned_units: int
    samples: int

    @property
    def planned_seconds(self) -> float:
        """The phase's projection."""
        return self.seconds / self.units * self.planned_units

    def to_json(self) -> dict[str, Any]:
        """The phase as the record words it; no GPU is counted without allocation evidence."""
        return {
            "seconds": self.seconds,
            "units": self.units,
            "planned_units": self.planned_units,
            "samples": self.samples,
            "gpu_count": None,
            "allocation_source": None,
        }


def phases(bench: Workbench, pilot: Pilot, scoring: tuple[float, int]) -> dict[str, Timing]:
    """Setup per arm, training per step, evaluation per item; arms run one after another."""
    planned, (seconds, items) = planned_units(bench.plan), scoring
    trained = pilot.steps * bench.batch_size
    return {
        "setup": Timing(pilot.setup_seconds, 1, planned["setup"], 0),
        "training": Timing(pilot.step_seconds, pilot.steps, planned["training"], trained),
        "evaluation": Timing(seconds, items, planned["evaluation"], items),
    }


def recovery_reserve(bench: Workbench, pilot: Pilot) -> float:
    """Seconds of one restore and of the steps that are lost between two checkpoints."""
    lost = bench.plan.checkpoint_every * pilot.step_seconds / pilot.steps
    return pilot.recovery_seconds + lost


def measure_feasibility(
    bench: Workbench, pilot: Pilot, scoring: tuple[float, int]
) -> dict[str, Any]:
    """The record's `feasibility` section; `scoring` is (seconds, items) of the base evaluation."""
    timed = phases(bench, pilot, scoring)
    config = dict(bench.plan.effective_config)
    return {
        "config": config,
        "effective_config": config,
        "primary_endpoint": as_text(bench.spec.get("primary_endpoint")),
        "source": bench.run.unused_name(FEASIBILITY),
        "measurements": {name: timing.to_json() for name, timing in timed.items()},
        "generation": None,
        "recovery": {
            "seconds": recovery_reserve(bench, pilot),
            "gpu_count": None,
            "allocation_source": None,
        },
    }


def projected_minutes(bench: Workbench, pilot: Pilot, scoring: tuple[float, int]) -> float:
    """Minutes that the whole plan takes, recovery reserve included."""
    total = sum(timing.planned_seconds for timing in phases(bench, pilot, scoring).values())
    return (total + recovery_reserve(bench, pilot)) / 60


@dataclass(frozen=True, slots=True)
class Downsizing:
    """One way to make the plan fit: what is dropped, what it saves, what it costs."""

    change: str
    saves_minutes: float
    cost: str
    refused: bool = False


def downsizing(
    bench: Workbench, pilot: Pilot, scoring: tuple[float, int]
) -> tuple[Downsizing, ...]:
    """Proposals that keep the primary endpoint, in the contract's order."""
    per_step = pilot.step_seconds / pilot.steps / 60
    per_item = scoring[0] / scoring[1] / 60
    plan = bench.plan
    proposals = [
        Downsizing(
            "drop every secondary evaluation",
            0.0,
            "nothing that decides; none is part of the timed schedule, --deviate secondary=none "
            "declares it",
        )
    ]
    for grid in plan.grids:
        arm = plan.arm(grid.arms[0])
        saved = (arm.steps if arm else 0) * per_step + plan.data.held_out * per_item
        smaller = len(grid.learning_rates) - 1
        proposals.append(
            Downsizing(
                f"drop one learning rate of {grid.id}",
                saved,
                f"leaves {smaller} rates"
                + (": only edges, so the verdict could never be definitive" if smaller < 3 else ""),
                refused=smaller < 3,
            )
        )
    saved = sum(arm.steps for arm in plan.selection) * 0.375 * per_step
    if plan.selection:
        proposals.append(
            Downsizing("shorten the selection runs by three eighths", saved, "a deviation: steps")
        )
    shortened = sum(arm.steps for arm in plan.confirmation) * 0.25 * per_step
    proposals.append(
        Downsizing("shorten the confirmation by a quarter", shortened, "a deviation: steps")
    )
    return tuple(proposals)


def over_budget(bench: Workbench, minutes: float) -> str | None:
    """The sentence of a projection that does not fit the spec's budget."""
    limit = as_object(bench.spec.get("budget")).get("max_wall_minutes")
    if not is_number(limit) or minutes <= limit:
        return None
    return f"projected {minutes:.1f} minutes, the budget holds {limit:g}"

"""The frozen plan: every choice that the spec leaves to prose, made explicit.

Written once before anything runs, hashed into the ledger, never changed afterwards.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rx_tools import __version__
from rx_tools.model.json import JsonObject
from rx_tools.model.names import ArmName, Role, Sha256

SCHEMA = "urn:rx:schema:plan:1"
BESIDE = ("schema", "rx_version", "questions", "power", "secondary", "advice")
"""What stands beside the plan in a document: its kind, and what `rx plan` prints with it."""


@dataclass(frozen=True, slots=True)
class PlannedOptimizer:
    """The optimizer type as the service names it, and its parameters except the learning rate."""

    type: str
    parameters: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PlannedArm:
    """One training run. `learning_rate` is None while it waits for the selection of `grid`."""

    name: ArmName
    role: Role
    seed: int
    phase: str
    steps: int
    learning_rate: float | None
    grid: str | None
    group: int | None
    optimizer: PlannedOptimizer


@dataclass(frozen=True, slots=True)
class Grid:
    """One role's learning-rate search; the lowest score wins, ties go to the lower rate."""

    id: str
    role: Role
    seed: int
    arms: tuple[ArmName, ...]
    learning_rates: tuple[float, ...]
    tie: str = "lower"


@dataclass(frozen=True, slots=True)
class Schedule:
    """How the learning rate moves over the steps, and what says so."""

    kind: str
    source: str

    def rate(self, base: float, step: int, steps: int) -> float:
        """The rate of the 0-based `step`; linear decay ends with `base / steps`."""
        return base * (1 - step / steps) if self.kind == "linear" else base


@dataclass(frozen=True, slots=True)
class DataPlan:
    """Where the rows come from and in which order they are used.

    `n_train` counts the training rows that the plan reads, `n_eval` the confirmation items,
    `held_out` the rows kept back from training for the selection. `reduction` is `mean` where the
    loss weights of a chat sum to 1, `none` where they are a mask.
    """

    source: str
    hf_path: str
    train_split: str
    eval_split: str
    order: str
    split_seed: int | None
    held_out: int
    n_train: int
    n_eval: int
    reduction: str


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What makes the evaluator: metric, aggregation, renderer, mask and length."""

    metric: str
    aggregation: str
    renderer: str
    train_on_what: str
    max_length: int
    decoding: Mapping[str, Any] = field(
        default_factory=lambda: {"temperature": 0, "max_tokens": 0, "stop": []}
    )


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """One activation metric: from what it is measured, on which arms, and when."""

    metric: str
    source: str
    arms: tuple[ArmName, ...]
    when: str


@dataclass(frozen=True, slots=True)
class CorrectnessPath:
    """One optimizer or loss path with both revisions resolved."""

    id: str
    baseline_revision: str
    reference_revision: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole plan; `to_json` and `from_json` are inverse to each other."""

    experiment: str
    spec_sha256: Sha256
    derived_from: Sha256 | None
    arms: tuple[PlannedArm, ...]
    grids: tuple[Grid, ...]
    readings: Mapping[str, str | None]
    schedule: Schedule
    data: DataPlan
    evaluation: EvaluationPlan
    activation: tuple[PlannedMetric, ...]
    correctness: tuple[CorrectnessPath, ...]
    effective_config: Mapping[str, Any]
    gates: tuple[JsonObject, ...]
    evidence: tuple[str, ...]
    jobs: int = 1
    checkpoint_every: int = 20

    def arm(self, name: str) -> PlannedArm | None:
        """The arm of this name, None if the plan has none."""
        return next((arm for arm in self.arms if arm.name == name), None)

    @property
    def selection(self) -> tuple[PlannedArm, ...]:
        """The arms of the learning-rate search, in the spec's order."""
        return tuple(arm for arm in self.arms if arm.phase == "selection")

    @property
    def confirmation(self) -> tuple[PlannedArm, ...]:
        """The arms that the decision compares, in the spec's order."""
        return tuple(arm for arm in self.arms if arm.phase == "confirmation")

    def to_json(self) -> dict[str, Any]:
        """The plan as a document of schema `urn:rx:schema:plan:1`."""
        return {"schema": SCHEMA, "rx_version": __version__} | asdict(self)

    @classmethod
    def from_json(cls, document: JsonObject) -> "Plan":
        """The plan of a document that its schema has accepted."""
        fields = {k: v for k, v in document.items() if k not in BESIDE}
        return cls(
            **fields
            | {
                "arms": tuple(arm_from(arm) for arm in fields["arms"]),
                "grids": tuple(grid_from(grid) for grid in fields["grids"]),
                "schedule": Schedule(**fields["schedule"]),
                "data": DataPlan(**fields["data"]),
                "evaluation": EvaluationPlan(**fields["evaluation"]),
                "activation": tuple(
                    PlannedMetric(**metric | {"arms": tuple(metric["arms"])})
                    for metric in fields["activation"]
                ),
                "correctness": tuple(CorrectnessPath(**path) for path in fields["correctness"]),
                "gates": tuple(fields["gates"]),
                "evidence": tuple(fields["evidence"]),
            }
        )


def arm_from(document: JsonObject) -> PlannedArm:
    """The arm of its JSON form."""
    return PlannedArm(**{**document, "optimizer": PlannedOptimizer(**document["optimizer"])})


def grid_from(document: JsonObject) -> Grid:
    """The grid of its JSON form."""
    rates, arms = tuple(document["learning_rates"]), tuple(document["arms"])
    return Grid(**{**document, "arms": arms, "learning_rates": rates})

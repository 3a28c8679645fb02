"""The spec as the rules see it: every part typed, whatever the document holds.

A part that is absent or of the wrong type reads as `None` or as empty; the document itself stays
reachable as `raw`. Shapes are judged by the schemas, not here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.model.depth import shallow
from rx_tools.model.gates_of_spec import (
    ActivationGate,
    CorrectnessPreflight,
    GenerationAudit,
    RestorationPreflight,
)
from rx_tools.model.json import as_object
from rx_tools.model.rule import DecisionRule
from rx_tools.model.tolerant import (
    flag_or_none,
    integer_or_none,
    number_or_none,
    objects_of,
    text_or_none,
)

FEATURES = (
    "custom_loss",
    "custom_optimizer",
    "paired_comparison",
    "paired_training_arms",
    "checkpoint_restore",
    "warmup_adaptation",
    "generated_training_data",
    "learned_generator",
    "heldout_loss",
    "adaptive_selection",
)


@dataclass(frozen=True, slots=True)
class Arm:
    """One planned training run. `lr` is `None` where the spec leaves it to the selection."""

    name: str | None
    seed: int | None
    lr: float | None
    lr_text: str | None
    optimizer: str | None
    phase: str | None
    steps: int | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "Arm":
        """Read one element of `arms`; `learning_rate` stands for `lr`."""
        rate = raw.get("lr", raw.get("learning_rate"))
        return cls(
            name=text_or_none(raw.get("name")),
            seed=integer_or_none(raw.get("seed")),
            lr=number_or_none(rate),
            lr_text=text_or_none(rate),
            optimizer=text_or_none(raw.get("optimizer")),
            phase=text_or_none(raw.get("phase")),
            steps=integer_or_none(raw.get("steps")),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class Dataset:
    """The data that the spec names."""

    name: str | None
    hf_path: str | None
    split: str | None
    n_examples: int | None

    @classmethod
    def of(cls, value: object) -> "Dataset":
        """Read `dataset`."""
        raw = as_object(value)
        return cls(
            name=text_or_none(raw.get("name")),
            hf_path=text_or_none(raw.get("hf_path")),
            split=text_or_none(raw.get("split")),
            n_examples=integer_or_none(raw.get("n_examples")),
        )


@dataclass(frozen=True, slots=True)
class EvalPlan:
    """What is measured at the end, on how many examples, averaged how."""

    benchmark: str | None
    metric: str | None
    aggregation: str | None
    n_examples: int | None

    @classmethod
    def of(cls, value: object) -> "EvalPlan":
        """Read `eval`."""
        raw = as_object(value)
        return cls(
            benchmark=text_or_none(raw.get("benchmark")),
            metric=text_or_none(raw.get("metric")),
            aggregation=text_or_none(raw.get("aggregation")),
            n_examples=integer_or_none(raw.get("n_examples")),
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """What the run may cost: GPU hours and wall-clock minutes."""

    gpu_hours: float | None
    max_wall_minutes: float | None

    @classmethod
    def of(cls, value: object) -> "Budget":
        """Read `budget`."""
        raw = as_object(value)
        return cls(
            gpu_hours=number_or_none(raw.get("gpu_hours")),
            max_wall_minutes=number_or_none(raw.get("max_wall_minutes")),
        )


@dataclass(frozen=True, slots=True)
class Spec:
    """The immutable plan of one experiment version."""

    title: str | None
    hypothesis: str | None
    method: str | None
    base_model: str | None
    lora_rank: int | None
    training_type: str | None
    dataset: Dataset
    optimizer_name: str | None
    optimizer_lr: float | None
    steps: int | None
    batch_size: int | None
    max_seq_len: int | None
    eval: EvalPlan
    primary_endpoint: str | None
    arms: tuple[Arm, ...]
    features: Mapping[str, bool]
    correctness: CorrectnessPreflight
    activation: ActivationGate
    restoration: RestorationPreflight
    success_criterion: str | None
    decision_rule: DecisionRule | None
    budget: Budget
    generation_audit: GenerationAudit
    feasibility_required: bool | None
    command: str | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "Spec":
        """Read a spec of any quality; never raises."""
        raw = as_object(shallow(value))
        optimizer = as_object(raw.get("optimizer"))
        return cls(
            title=text_or_none(raw.get("title")),
            hypothesis=text_or_none(raw.get("hypothesis")),
            method=text_or_none(raw.get("method")),
            base_model=text_or_none(raw.get("base_model")),
            lora_rank=integer_or_none(raw.get("lora_rank")),
            training_type=text_or_none(raw.get("training_type")),
            dataset=Dataset.of(raw.get("dataset")),
            optimizer_name=text_or_none(optimizer.get("name")),
            optimizer_lr=number_or_none(optimizer.get("lr", optimizer.get("learning_rate"))),
            steps=integer_or_none(raw.get("steps")),
            batch_size=integer_or_none(raw.get("batch_size")),
            max_seq_len=integer_or_none(raw.get("max_seq_len")),
            eval=EvalPlan.of(raw.get("eval")),
            primary_endpoint=text_or_none(raw.get("primary_endpoint")),
            arms=tuple(Arm.of(arm) for arm in objects_of(raw.get("arms"))),
            features=declared(raw.get("experiment_features")),
            correctness=CorrectnessPreflight.of(raw.get("correctness_preflight")),
            activation=ActivationGate.of(raw.get("activation_gate")),
            restoration=RestorationPreflight.of(raw.get("restoration_preflight")),
            success_criterion=text_or_none(raw.get("success_criterion")),
            decision_rule=DecisionRule.of(raw["decision_rule"]) if "decision_rule" in raw else None,
            budget=Budget.of(raw.get("budget")),
            generation_audit=GenerationAudit.of(raw.get("generation_audit")),
            feasibility_required=flag_or_none(raw.get("feasibility_required")),
            command=text_or_none(raw.get("command")),
            raw=raw,
        )

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The names of the arms that have one, in the order of the spec."""
        return tuple(arm.name for arm in self.arms if arm.name is not None)


def declared(value: object) -> Mapping[str, bool]:
    """The features that are declared with a boolean; anything else counts as undeclared."""
    return {name: flag for name, flag in as_object(value).items() if isinstance(flag, bool)}

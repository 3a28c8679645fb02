"""The parts of a spec that plan a gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.model.json import as_list, as_object
from rx_tools.model.tolerant import (
    flag_or_none,
    integer_or_none,
    number_or_none,
    numbers_of,
    objects_of,
    text_or_none,
)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`max_abs_error <= atol + rtol * reference_max_abs`, and a cosine where one is set."""

    atol: float | None
    rtol: float | None
    min_cosine: float | None

    @classmethod
    def of(cls, value: object) -> "Tolerance":
        """Read one tolerance."""
        raw = as_object(value)
        return cls(
            atol=number_or_none(raw.get("atol")),
            rtol=number_or_none(raw.get("rtol")),
            min_cosine=number_or_none(raw.get("min_cosine")),
        )


@dataclass(frozen=True, slots=True)
class CorrectnessPath:
    """One custom path: what it is compared with, and how close is close enough."""

    id: str | None
    kind: str | None
    baseline_revision: str | None
    reference_revision: str | None
    tolerances: Mapping[str, Tolerance]
    learning_rates: tuple[float, ...]
    scaling_rtol: float | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "CorrectnessPath":
        """Read one element of `paths`."""
        scaling = as_object(raw.get("lr_scaling"))
        tolerances = as_object(raw.get("tolerances"))
        return cls(
            id=text_or_none(raw.get("id")),
            kind=text_or_none(raw.get("kind")),
            baseline_revision=text_or_none(raw.get("baseline_revision")),
            reference_revision=text_or_none(raw.get("reference_revision")),
            tolerances={name: Tolerance.of(item) for name, item in tolerances.items()},
            learning_rates=numbers_of(scaling.get("learning_rates")),
            scaling_rtol=number_or_none(scaling.get("rtol")),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class CorrectnessPreflight:
    """`correctness_preflight` of a spec."""

    required: bool | None
    paths: tuple[CorrectnessPath, ...]
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "CorrectnessPreflight":
        """Read `correctness_preflight`."""
        raw = as_object(value)
        paths = tuple(CorrectnessPath.of(path) for path in objects_of(raw.get("paths")))
        return cls(flag_or_none(raw.get("required")), paths, raw)


@dataclass(frozen=True, slots=True)
class ActivationCheck:
    """One measured value and where it must lie; limits are inclusive."""

    metric: str | None
    min: float | None
    max: float | None
    one_of: tuple[Any, ...] | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "ActivationCheck":
        """Read one element of `checks`."""
        return cls(
            metric=text_or_none(raw.get("metric")),
            min=number_or_none(raw.get("min")),
            max=number_or_none(raw.get("max")),
            one_of=tuple(as_list(raw["one_of"])) if "one_of" in raw else None,
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class ActivationGate:
    """`activation_gate` of a spec."""

    applicable: bool | None
    checks: tuple[ActivationCheck, ...]
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "ActivationGate":
        """Read `activation_gate`."""
        raw = as_object(value)
        checks = tuple(ActivationCheck.of(check) for check in objects_of(raw.get("checks")))
        return cls(flag_or_none(raw.get("applicable")), checks, raw)


@dataclass(frozen=True, slots=True)
class RequestedArm:
    """What a restoration group asks of one arm."""

    name: str | None
    optimizer: str | None
    optimizer_config: Mapping[str, Any]
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "RequestedArm":
        """Read one element of a group's `arms`."""
        return cls(
            name=text_or_none(raw.get("name")),
            optimizer=text_or_none(raw.get("optimizer")),
            optimizer_config=as_object(raw.get("optimizer_config")),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class RestorationPreflight:
    """`restoration_preflight` of a spec: groups of arms that share one initialization."""

    applicable: bool | None
    fixed_batch_required: bool | None
    groups: tuple[tuple[RequestedArm, ...], ...]
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "RestorationPreflight":
        """Read `restoration_preflight`."""
        raw = as_object(value)
        groups = tuple(
            tuple(RequestedArm.of(arm) for arm in objects_of(group.get("arms")))
            for group in objects_of(raw.get("groups"))
        )
        return cls(
            applicable=flag_or_none(raw.get("applicable")),
            fixed_batch_required=flag_or_none(raw.get("fixed_batch_required")),
            groups=groups,
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class GenerationAudit:
    """`generation_audit` of a spec: how many labels are re-solved, and what is tolerated."""

    required: bool | None
    answer_comparison: str | None
    min_sample_size: int | None
    max_label_errors: int | None
    max_eval_overlaps: int | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "GenerationAudit":
        """Read `generation_audit`."""
        raw = as_object(value)
        return cls(
            required=flag_or_none(raw.get("required")),
            answer_comparison=text_or_none(raw.get("answer_comparison")),
            min_sample_size=integer_or_none(raw.get("min_sample_size")),
            max_label_errors=integer_or_none(raw.get("max_label_errors")),
            max_eval_overlaps=integer_or_none(raw.get("max_eval_overlaps")),
            raw=raw,
        )

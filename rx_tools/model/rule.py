"""The decision rule of a spec."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.model.json import as_object, is_number
from rx_tools.model.tolerant import (
    integer_or_none,
    integers_of,
    number_or_none,
    objects_of,
    text_or_none,
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One contrast of arm roles on one metric, against a margin in the metric's units."""

    id: str | None
    metric: str | None
    weights: Mapping[str, float]
    margin: float | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "Criterion":
        """Read one element of `criteria`; weights that are no finite numbers are left out."""
        weights = as_object(raw.get("weights"))
        return cls(
            id=text_or_none(raw.get("id")),
            metric=text_or_none(raw.get("metric")),
            weights={role: float(w) for role, w in weights.items() if is_number(w)},
            margin=number_or_none(raw.get("margin")),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class AdaptiveSelection:
    """How learning rates or edits are selected before the confirmation. Item lists may be prose."""

    kind: str | None
    search_item_ids: object
    confirmation_item_ids: object
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "AdaptiveSelection":
        """Read `adaptive_selection`."""
        raw = as_object(value)
        return cls(
            kind=text_or_none(raw.get("kind")),
            search_item_ids=raw.get("search_item_ids"),
            confirmation_item_ids=raw.get("confirmation_item_ids"),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """A simultaneous interval over training seeds for each criterion."""

    version: int | None
    estimand: str | None
    unit: str | None
    seeds: tuple[int, ...]
    alpha: float | None
    method: str | None
    assumptions: Mapping[str, Any]
    criteria: tuple[Criterion, ...]
    adaptive_selection: AdaptiveSelection | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "DecisionRule":
        """Read a decision rule of any quality; never raises."""
        raw = as_object(value)
        adaptive = raw.get("adaptive_selection")
        return cls(
            version=integer_or_none(raw.get("version")),
            estimand=text_or_none(raw.get("estimand")),
            unit=text_or_none(raw.get("unit")),
            seeds=integers_of(raw.get("seeds")),
            alpha=number_or_none(raw.get("alpha")),
            method=text_or_none(raw.get("method")),
            assumptions=as_object(raw.get("assumptions")),
            criteria=tuple(Criterion.of(item) for item in objects_of(raw.get("criteria"))),
            adaptive_selection=None if adaptive is None else AdaptiveSelection.of(adaptive),
            raw=raw,
        )

"""The run record as the rules see it: every part typed, whatever the document holds.

A part that is absent or of the wrong type reads as `None` or as empty; the document itself stays
reachable as `raw`. Sections are handed on as objects: each has its own judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rx_tools.model.depth import shallow
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.names import Sha256
from rx_tools.model.tolerant import (
    flag_or_none,
    integer_or_none,
    objects_of,
    text_or_none,
    texts_of,
)

VERDICTS = ("supported", "refuted", "inconclusive")
OUTCOME_REASONS = (
    "supported",
    "refuted",
    "tie",
    "mixed_criteria",
    "insufficient_evidence",
    "incomplete_execution",
)


@dataclass(frozen=True, slots=True)
class Deviation:
    """One departure from the spec, as the executor declared it."""

    field: str | None
    original: object
    effective: object
    reason: str | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "Deviation":
        """Read one element of `deviations`."""
        return cls(
            field=text_or_none(raw.get("field")),
            original=raw.get("original"),
            effective=raw.get("effective"),
            reason=text_or_none(raw.get("reason")),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One evidence file as the record lists it; the bytes are elsewhere or inline."""

    name: str | None
    kind: str | None
    content: str | None
    source_url: str | None
    sha256: Sha256 | None
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "ListedFile":
        """Read one element of `evidence.files`."""
        digest = text_or_none(raw.get("sha256"))
        return cls(
            name=text_or_none(raw.get("name")),
            kind=text_or_none(raw.get("kind")),
            content=text_or_none(raw.get("content")),
            source_url=text_or_none(raw.get("source_url")),
            sha256=None if digest is None else Sha256(digest),
            raw=raw,
        )


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A reference to saved weights."""

    arm: str | None
    step: int | None
    uri: str | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "Checkpoint":
        """Read one element of `evidence.checkpoints`."""
        return cls(
            arm=text_or_none(raw.get("arm")),
            step=integer_or_none(raw.get("step")),
            uri=text_or_none(raw.get("uri")),
        )


@dataclass(frozen=True, slots=True)
class Record:
    """One update of a run's structured output."""

    status: str | None
    summary: str | None
    metrics: JsonObject
    arm_metrics: Mapping[str, JsonObject]
    completed_arms: tuple[str, ...]
    verdict: str | None
    outcome_reason: str | None
    capacity_block: JsonObject
    deviations: tuple[Deviation, ...]
    original_hypothesis_tested: bool | None
    tested_instead: str | None
    files: tuple[ListedFile, ...]
    checkpoints: tuple[Checkpoint, ...]
    raw: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> "Record":
        """Read a record of any quality; never raises."""
        raw = as_object(shallow(value))
        metrics, evidence = as_object(raw.get("metrics")), as_object(raw.get("evidence"))
        arms = as_object(metrics.get("arms"))
        return cls(
            status=text_or_none(raw.get("status")),
            summary=text_or_none(raw.get("summary")),
            metrics=metrics,
            arm_metrics={name: as_object(values) for name, values in arms.items()},
            completed_arms=texts_of(raw.get("completed_arms")),
            verdict=text_or_none(raw.get("verdict")),
            outcome_reason=text_or_none(raw.get("outcome_reason")),
            capacity_block=as_object(raw.get("capacity_block")),
            deviations=tuple(Deviation.of(item) for item in objects_of(raw.get("deviations"))),
            original_hypothesis_tested=flag_or_none(raw.get("original_hypothesis_tested")),
            tested_instead=text_or_none(raw.get("tested_instead")),
            files=tuple(ListedFile.of(item) for item in objects_of(evidence.get("files"))),
            checkpoints=tuple(
                Checkpoint.of(item) for item in objects_of(evidence.get("checkpoints"))
            ),
            raw=raw,
        )

    def section(self, name: str) -> JsonObject:
        """A section of the record as an object, empty if it is absent or none."""
        return as_object(self.raw.get(name))

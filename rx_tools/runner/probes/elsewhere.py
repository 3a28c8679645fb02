"""Evidence that was measured elsewhere: taken in, and shown as such everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rx_tools.errors import DocumentError
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.json import as_list, as_object, as_text
from rx_tools.runner.probes.report import SCHEMA
from rx_tools.runner.probes.result import Outcome, ProbeResult

NOTE = "not measured here"


@dataclass(frozen=True, slots=True)
class Foreign:
    """What somebody else measured of one optimizer: results by probe, and a correctness path."""

    optimizer: str
    results: Mapping[str, ProbeResult]
    correctness: Mapping[str, Any] | None


def read_foreign(path: Path) -> Foreign:
    """Read a report (`urn:rx:schema:probes:1`) of the same optimizer on another service.

    It is the file that `rx preflight` publishes there; `measured_by` may say more than its
    service's host name. Raises `DocumentError` for anything else.
    """
    document = as_object(read_document(path).value)
    if document.get("schema") != SCHEMA:
        raise DocumentError("not a report of probes", where=str(path), hint=f"expected {SCHEMA}")
    host = as_text(as_object(document.get("service")).get("host"))
    who = as_text(document.get("measured_by")) or host
    if not who:
        raise DocumentError("does not say where it was measured", where=str(path))
    results = [foreign(as_object(item), who, path) for item in as_list(document.get("results"))]
    carried = document.get("correctness")
    return Foreign(
        optimizer=as_text(as_object(document.get("optimizer")).get("type")),
        results={result.probe: result for result in results},
        correctness=carried if isinstance(carried, Mapping) else None,
    )


def foreign(item: Mapping[str, Any], who: str, path: Path) -> ProbeResult:
    """One result of the report, marked as foreign."""
    if item.get("outcome") not in {outcome.value for outcome in Outcome}:
        raise DocumentError(f"unknown outcome {item.get('outcome')!r}", where=str(path))
    reasons = [as_text(reason) for reason in as_list(item.get("reasons"))] or [""]
    return ProbeResult(
        probe=as_text(item.get("probe")),
        outcome=Outcome(item["outcome"]),
        reasons=tuple(f"{NOTE}, but at {who}: {reason}" for reason in reasons),
        figures={**as_object(item.get("figures")), "measured_at": who},
        measured_here=False,
    )

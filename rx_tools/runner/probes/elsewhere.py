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
    """A result that somebody else measured, and the correctness path that it carries, if any."""

    result: ProbeResult
    correctness: Mapping[str, Any] | None


def read_foreign(path: Path) -> Foreign:
    """Read a probe's evidence file (`urn:rx:schema:probe:1`) that was measured elsewhere.

    Besides the fields of every probe it names `measured_by` (who, on what) and may hold
    `correctness`, one path in the record's shape. Raises `DocumentError` for anything else.
    """
    document = as_object(read_document(path).value)
    names = {outcome.value for outcome in Outcome}
    if document.get("schema") != SCHEMA or document.get("outcome") not in names:
        raise DocumentError("not the evidence of a probe", where=str(path))
    who = as_text(document.get("measured_by"))
    if not who:
        raise DocumentError("does not say who measured it (measured_by)", where=str(path))
    reasons = [as_text(reason) for reason in as_list(document.get("reasons"))]
    result = ProbeResult(
        probe=as_text(document.get("probe")),
        outcome=Outcome(document["outcome"]),
        reasons=tuple(f"{NOTE}, but by {who}: {reason}" for reason in reasons or [""]),
        figures={**as_object(document.get("figures")), "measured_by": who},
        measured_here=False,
    )
    carried = document.get("correctness")
    return Foreign(result, carried if isinstance(carried, Mapping) else None)

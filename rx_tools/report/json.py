"""A report as JSON: one object, versioned."""

import json
from typing import Any

from rx_tools import __version__
from rx_tools.report.findings import FileReport, Placed, Report, summary
from rx_tools.schemas.library import schema_id


def render_json(report: Report) -> str:
    """The document that the schema `validation-report` describes."""
    document: dict[str, Any] = {
        "schema": schema_id("validation-report"),
        "rx_version": __version__,
        "files": [file_entry(file) for file in report.files],
        "summary": summary(report),
    }
    if report.validation is not None:
        document["validation"] = report.validation
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def file_entry(file: FileReport) -> dict[str, Any]:
    """One file with its findings."""
    return {
        "path": file.path,
        "kind": file.kind,
        "status": file.status.value,
        "findings": [finding_entry(placed) for placed in file.findings],
    }


def finding_entry(placed: Placed) -> dict[str, Any]:
    """One finding with its place."""
    finding = placed.finding
    return {
        "code": finding.code,
        "level": finding.level.value,
        "json_path": finding.json_path,
        "line": placed.line,
        "column": placed.column,
        "message": finding.message,
        "hint": finding.hint,
    }

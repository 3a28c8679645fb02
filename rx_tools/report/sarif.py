"""A report as SARIF 2.1.0, for code scanning."""

import json
from typing import Any
from urllib.parse import quote

from rx_tools import __version__
from rx_tools.model.result import Level
from rx_tools.report.findings import FileReport, Placed, Report, summary
from rx_tools.report.manual import title_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {
    Level.ERROR: "error",
    Level.UNVERIFIED: "error",
    Level.WARNING: "warning",
    Level.NOTE: "note",
}


def render_sarif(report: Report) -> str:
    """One run with one result per finding."""
    results = [result(file, placed) for file in report.files for placed in file.findings]
    codes = sorted({item["ruleId"] for item in results})
    driver = {
        "name": "rx",
        "version": __version__,
        "informationUri": "https://pypi.org/project/rx-tools/",
        "rules": [{"id": code, "shortDescription": {"text": title_of(code)}} for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"summary": summary(report)},
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def result(file: FileReport, placed: Placed) -> dict[str, Any]:
    """One finding as a SARIF result."""
    finding = placed.finding
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(file.path)}}
    if placed.line > 0:
        location["region"] = {"startLine": placed.line, "startColumn": placed.column}
    advice = f" ({finding.hint})" if finding.hint else ""
    return {
        "ruleId": finding.code,
        "level": LEVELS[finding.level],
        "message": {"text": f"{finding.message}{advice}"},
        "locations": [
            {
                "physicalLocation": location,
                "logicalLocations": [{"fullyQualifiedName": finding.json_path}],
            }
        ],
        "properties": {"level": finding.level.value},
    }

"""A report as GitHub Actions annotations: one workflow command per finding."""

from rx_tools.model.result import Level
from rx_tools.report.findings import FileReport, Placed, Report

COMMANDS = {
    Level.ERROR: "error",
    Level.UNVERIFIED: "error",
    Level.WARNING: "warning",
    Level.NOTE: "notice",
}


def render_github(report: Report) -> str:
    """One line per finding, then a notice with the total."""
    lines = [annotation(file, placed) for file in report.files for placed in file.findings]
    ending = f"rx validate: {report.status.value}, {report.total} findings"
    return "\n".join([*lines, f"::notice title=rx::{data(ending)}"])


def annotation(file: FileReport, placed: Placed) -> str:
    """One finding; nothing in it can end the command or start another."""
    finding = placed.finding
    properties = {
        "file": file.path,
        "line": str(max(1, placed.line)),
        "col": str(max(1, placed.column)),
        "title": f"{finding.code} {finding.json_path}",
    }
    listed = ",".join(f"{name}={value_of(text)}" for name, text in properties.items())
    advice = f" ({finding.hint})" if finding.hint else ""
    return f"::{COMMANDS[finding.level]} {listed}::{data(finding.message + advice)}"


def data(text: str) -> str:
    """Text of a message, escaped as the runner unescapes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value_of(text: str) -> str:
    """Text of a property, escaped as the runner unescapes it."""
    return data(text).replace(":", "%3A").replace(",", "%2C")

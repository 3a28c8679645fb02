"""A report for people: the line that decides first, then gates, then findings."""

from collections.abc import Iterator

from rx_tools.model.result import Level, Status
from rx_tools.report.findings import FileReport, Placed, Report

SIGNS = {
    Level.ERROR: "error",
    Level.UNVERIFIED: "unverified",
    Level.WARNING: "warning",
    Level.NOTE: "note",
}


def render_text(report: Report) -> str:
    """Plain text, no colour, at most one line per gate and two per finding."""
    lines = [deciding_line(report)]
    if report.gates:
        lines += ["", *gate_lines(report)]
    for file in report.files:
        lines += ["", *file_lines(file)]
    return "\n".join(visible(line) for line in lines)


def deciding_line(report: Report) -> str:
    """What it comes to, and the first thing that decided it."""
    counts = (
        f"{report.total} findings in {len(report.files)} files "
        f"({report.count(Level.ERROR)} errors, {report.count(Level.UNVERIFIED)} unverified, "
        f"{report.count(Level.WARNING)} warnings, {report.count(Level.NOTE)} notes)"
    )
    if not report.evaluated:
        return f"{report.status.value}: nothing was evaluated; {counts}"
    why = next(deciding(report), "")
    return f"{report.status.value}: {counts}{why}"


def deciding(report: Report) -> Iterator[str]:
    """The finding that weighs most, errors before unverified items."""
    for level in (Level.ERROR, Level.UNVERIFIED):
        for file in report.files:
            for placed in file.findings:
                if placed.finding.level is level:
                    yield f"; first: {placed.finding.code} {placed.finding.message}"


def gate_lines(report: Report) -> Iterator[str]:
    """One line per gate: its name, its status, its first reason."""
    for gate, result in report.gates.items():
        reason = result.reasons[0].message if result.reasons else ""
        more = f" (+{len(result.reasons) - 1})" if len(result.reasons) > 1 else ""
        shown = "" if result.status in (Status.PASSED, Status.NOT_APPLICABLE) else reason + more
        yield f"  {gate.value:<22}{result.status.value:<16}{shown}".rstrip()


def file_lines(file: FileReport) -> Iterator[str]:
    """The file, then its findings."""
    yield f"{file.path}: {file.kind}, {file.status.value}"
    for placed in file.findings:
        yield from finding_lines(file, placed)


def finding_lines(file: FileReport, placed: Placed) -> Iterator[str]:
    """Place, code, level and message; the hint below."""
    finding = placed.finding
    where = f"{placed.line}:{placed.column}"
    yield f"  {where:<9}{finding.code} {SIGNS[finding.level]:<11}{finding.json_path}"
    yield f"           {finding.message}" + (f" ({finding.hint})" if finding.hint else "")


def visible(line: str) -> str:
    """One line without control characters: nothing in a document can move the cursor."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else "\ufffd" for c in line)

"""Findings as every format prints them: placed in a file, counted once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rx_tools.errors import ExitCode
from rx_tools.model.names import Gate
from rx_tools.model.result import EXIT_OF, Finding, Level, Result, Status
from rx_tools.model.secrets import redact


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding with its line and column, both from 1 (0: the file has no such place)."""

    finding: Finding
    line: int
    column: int

    @classmethod
    def of(cls, finding: Finding, place: tuple[int, int]) -> "Placed":
        """The finding at its place, with anything that looks like a credential taken out.

        Every format prints what this returns, so that none of them can leak what a document holds.
        """
        safe = replace(
            finding,
            message=redact(finding.message),
            hint=redact(finding.hint),
            json_path=redact(finding.json_path),
        )
        return cls(safe, *place)


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file: what it is, how it fares, and every finding on it."""

    path: str
    kind: str
    status: Status
    findings: tuple[Placed, ...]
    exit_code: ExitCode

    @classmethod
    def of(cls, path: str, kind: str, status: Status, findings: tuple[Placed, ...]) -> "FileReport":
        """A report whose exit code follows from its status."""
        return cls(path, kind, status, findings, EXIT_OF[status])


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one call of `rx validate` found."""

    files: tuple[FileReport, ...]
    exit_code: ExitCode
    validation: Mapping[str, Any] | None = None
    gates: Mapping[Gate, Result] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of findings, the same in every format."""
        return sum(len(file.findings) for file in self.files)

    def count(self, level: Level) -> int:
        """The number of findings of one level."""
        return sum(placed.finding.level is level for file in self.files for placed in file.findings)

    @property
    def evaluated(self) -> int:
        """The number of files whose kind is known, so that rules were applied."""
        return sum(file.kind != "unknown" for file in self.files)

    @property
    def status(self) -> Status:
        """The status of the whole call; nothing evaluated is unverified."""
        return WORST[self.exit_code]


WORST = {
    ExitCode.OK: Status.PASSED,
    ExitCode.UNVERIFIED: Status.UNVERIFIED,
    ExitCode.FINDINGS: Status.FAILED,
    ExitCode.USAGE: Status.INVALID,
    ExitCode.INTEGRITY: Status.INVALID,
    ExitCode.DISK: Status.INVALID,
}


def summary(report: Report) -> dict[str, Any]:
    """The counts of a report, in one object."""
    return {
        "status": report.status.value,
        "exit_code": int(report.exit_code),
        "files": len(report.files),
        "evaluated": report.evaluated,
        "findings": report.total,
        "errors": report.count(Level.ERROR),
        "unverified": report.count(Level.UNVERIFIED),
        "warnings": report.count(Level.WARNING),
        "notes": report.count(Level.NOTE),
    }

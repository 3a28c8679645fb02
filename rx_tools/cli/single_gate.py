"""What the commands of single gates share: read, judge, print, exit by the status."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode
from rx_tools.model.result import Finding, Result

SpecFile = Annotated[Path, typer.Argument(help="The saved spec.")]
RecordFile = Annotated[Path, typer.Argument(help="The run record.")]
EvidenceFolder = Annotated[
    Path | None, typer.Option("--evidence", help="Folder with the retained evidence files.")
]


def gate_command(module: str, gate: str, manual: str) -> Callable[..., ExitCode]:
    """The command that judges one gate on documents; `manual` is its help."""

    def command(
        spec: SpecFile,
        record: RecordFile,
        evidence: EvidenceFolder = None,
        format: FormatOption = Format.TEXT,
        quiet: Quiet = False,
        debug: Debug = False,
    ) -> ExitCode:
        result = judged(module, spec, record, evidence)
        if format is Format.JSON:
            emit(as_json(gate, result))
        elif not quiet:
            emit(as_text(gate, result))
        return result.status.exit_code

    command.__doc__ = manual
    return command


def judged(module: str, spec: Path, record: Path, evidence: Path | None) -> Result:
    """The answer of one judge to the documents in two files and the files in a folder."""
    from rx_tools.checks.catalogue import judge_of
    from rx_tools.checks.kinds import Kind
    from rx_tools.evidence.retained import retained_evidence
    from rx_tools.evidence.wanted import read_as
    from rx_tools.model.record import Record
    from rx_tools.model.spec import Spec

    plan, update = read_as(spec, Kind.SPEC).value, read_as(record, Kind.RECORD).value
    kept = retained_evidence(update, evidence)
    return judge_of(module)(Spec.of(plan), Record.of(update), kept)


def as_text(gate: str, result: Result) -> str:
    """The gate and its status, then one line per finding."""
    from rx_tools.report.terminal import visible

    lines = [f"{gate}: {result.status.value}"]
    lines += [f"  {f.code} {f.level.value:<11}{f.message}" for f in result.reasons]
    return "\n".join(visible(line) for line in lines)


def as_json(gate: str, result: Result) -> str:
    """The document that the schema `gate-answer` describes."""
    from rx_tools.schemas.library import schema_id

    document = {
        "schema": schema_id("gate-answer"),
        "rx_version": __version__,
        "gate": gate,
        "status": result.status.value,
        "answer": result.details,
        "findings": [entry_of(finding) for finding in result.reasons],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def entry_of(finding: Finding) -> dict[str, str]:
    """A finding as a JSON object; `document` says which document its path leads into."""
    return {
        "code": finding.code,
        "level": finding.level.value,
        "document": finding.document,
        "json_path": finding.json_path,
        "message": finding.message,
        "hint": finding.hint,
    }

"""`rx validate`: judge documents as the exchange's server will, and then say more."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Quiet
from rx_tools.errors import ExitCode
from rx_tools.report.findings import Report

MANY = 500
"""From so many files on it takes so long that one likes to know."""


class Output(StrEnum):
    """How the findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"


def command(
    files: Annotated[list[str], typer.Argument(help="Documents, folders or quoted patterns.")],
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Folder with the retained evidence files.")
    ] = None,
    output: Annotated[
        Output, typer.Option("--format", help="How to print the findings.")
    ] = Output.TEXT,
    updates: Annotated[
        bool, typer.Option("--updates", help="The records are successive updates of one run.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the manual page of every code found.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Judge specs, records, plans and bundle documents; their kind is detected.

    One spec and one record are a pair: every gate then answers as the server will. Several updates
    of one run (`record-0001.json` …) are also compared with each other; a run directory brings its
    evidence along.

    Example: rx validate spec.json record.json --evidence evidence/ --format json
    """
    from rx_tools.cli.judging import judge_files
    from rx_tools.evidence.gather import gather

    found = gather(files)
    if len(found) >= MANY and not quiet:
        say(f"reading {len(found)} files")
    report = judge_files(found, evidence, updates)
    if not quiet:
        emit(rendered(report, output))
        if explain and output is Output.TEXT:
            emit(explanations(report))
    return report.exit_code


def rendered(report: Report, output: Output) -> str:
    """The report in one format; only the module of that format is imported."""
    return RENDERERS[output](report)


def as_text(report: Report) -> str:
    """For people."""
    from rx_tools.report.terminal import render_text

    return render_text(report)


def as_json(report: Report) -> str:
    """For programs."""
    from rx_tools.report.json import render_json

    return render_json(report)


def as_sarif(report: Report) -> str:
    """For code scanning."""
    from rx_tools.report.sarif import render_sarif

    return render_sarif(report)


def as_junit(report: Report) -> str:
    """For test reports."""
    from rx_tools.report.junit import render_junit

    return render_junit(report)


def as_github(report: Report) -> str:
    """For annotations of a workflow."""
    from rx_tools.report.github import render_github

    return render_github(report)


RENDERERS: Mapping[Output, Callable[[Report], str]] = {
    Output.TEXT: as_text,
    Output.JSON: as_json,
    Output.SARIF: as_sarif,
    Output.JUNIT: as_junit,
    Output.GITHUB: as_github,
}


def explanations(report: Report) -> str:
    """The manual page of every code that was found, once."""
    from rx_tools.report.manual import pages, render_page

    codes = {placed.finding.code for file in report.files for placed in file.findings}
    return "\n\n".join(
        f"{'-' * 72}\n{render_page(page)}" for code, page in pages().items() if code in codes
    )

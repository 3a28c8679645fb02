"""`rx applicability`: which gates a spec is bound by, and why."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rx_tools import __version__
from rx_tools.checks.applicability import COVERAGE, check_applicability
from rx_tools.checks.kinds import Kind
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode
from rx_tools.evidence.wanted import read_as
from rx_tools.schemas.library import schema_id


def command(
    spec: Annotated[Path, typer.Argument(help="The saved spec.")],
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Say which gates apply to a spec, with the reasons. Exits 3 while one is unknown.

    Example: rx applicability examples/dimuon-vs-adamw.spec.json
    """
    document = read_as(spec, Kind.SPEC).value
    answers = [check_applicability(document, gate) for gate in COVERAGE]
    if format is Format.JSON:
        body = {"schema": schema_id("applicability"), "rx_version": __version__, "gates": answers}
        emit(json.dumps(body, indent=2, ensure_ascii=False))
    elif not quiet:
        emit("\n".join(line_of(answer) for answer in answers))
    unknown = any(answer["status"] == "unknown" for answer in answers)
    return ExitCode.UNVERIFIED if unknown else ExitCode.OK


def line_of(answer: dict[str, Any]) -> str:
    """One gate on one line."""
    return f"{answer['check']:<23}{answer['status']:<16}{'; '.join(answer['reasons'])}"

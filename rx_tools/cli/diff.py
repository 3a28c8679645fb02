"""`rx diff`: what differs between two runs."""

from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode
from rx_tools.evidence.run_dir import open_run_dir


def command(
    first: Annotated[Path, typer.Argument(metavar="DIR_A", help="A run or an unpacked bundle.")],
    second: Annotated[Path, typer.Argument(metavar="DIR_B", help="Another one.")],
    atol: Annotated[
        float, typer.Option("--atol", min=0.0, help="Numbers this close count as equal.")
    ] = 0.0,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Compare two runs part by part: spec, plan, versions, service, evaluator, data, scores.

    Exit 0 when it is the same experiment with the same numbers, 1 when something differs. Run ids,
    times and checkpoint addresses are not compared.

    Example: rx diff runs/first runs/second
    """
    from rx_tools.report.diff import compare
    from rx_tools.report.diff_show import diff_json, diff_text
    from rx_tools.report.run_view import look

    left, right = look(open_run_dir(first)), look(open_run_dir(second))
    parts = compare(left, right, atol)
    if not quiet:
        show = diff_json if format is Format.JSON else diff_text
        emit(show(left, right, parts))
    return ExitCode.OK if all(part.equal for part in parts) else ExitCode.FINDINGS

"""`rx status`: where a run stands."""

from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet, RunDir, one_of
from rx_tools.errors import ExitCode
from rx_tools.evidence.run_dir import open_run_dir


def command(
    directory: Annotated[
        Path | None, typer.Argument(help="The run directory; by default the one you are in.")
    ] = None,
    run_dir: RunDir = None,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Show where a run stands: gates, clearances, arms, selection, evidence, ledger, what is next.

    Reads only, also while the run is under way. Exit 4 when the ledger is damaged.

    Example: rx status runs/exp_9574bbb76e-20261129T201000Z
    """
    from rx_tools.report.run_view import look
    from rx_tools.report.status import status_json, status_text

    view = look(open_run_dir(one_of(directory, run_dir)))
    if not quiet:
        emit(status_json(view) if format is Format.JSON else status_text(view))
    return ExitCode.INTEGRITY if view.reading.damage else ExitCode.OK

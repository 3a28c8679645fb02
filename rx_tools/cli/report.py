"""`rx report`: one self-contained HTML page of a run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet, RunDir, one_of
from rx_tools.cli.output import check_place, write_over
from rx_tools.errors import ExitCode, UsageError
from rx_tools.evidence.digest import sha256_of
from rx_tools.evidence.run_dir import open_run_dir

if TYPE_CHECKING:
    from rx_tools.report.run_view import RunView

SCHEMA = "urn:rx:schema:report-written:1"


def command(
    directory: Annotated[
        Path | None, typer.Argument(help="The run directory; by default the one you are in.")
    ] = None,
    run_dir: RunDir = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The page; `-` writes it to stdout.")
    ] = Path("report.html"),
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Write one HTML page that shows a run: decision, gates, arms, losses, evidence, timeline.

    It needs no network and no script, and may be written again at any time, also while the run is
    under way. Exit 4 when the ledger is damaged; the page then says so.

    Example: rx report runs/exp_9574bbb76e-20261129T201000Z -o report.html
    """
    from rx_tools.report.html import render_html
    from rx_tools.report.run_view import look

    to_stdout = str(output) == "-"
    if to_stdout and format is Format.JSON:
        raise UsageError("the page goes to stdout", where="-o -", hint="name a file for the page")
    if not to_stdout:
        check_place(output)
    view = look(open_run_dir(one_of(directory, run_dir)))
    page = (render_html(view) + "\n").encode()
    if to_stdout:
        emit(page.decode())
        return code_of(view)
    write_over(output, page)
    if format is Format.JSON:
        emit(as_json(view, output, page))
    elif not quiet:
        say(f"{output}: {len(page)} bytes")
    return code_of(view)


def code_of(view: "RunView") -> ExitCode:
    """A damaged ledger is an integrity error, shown as well as answered."""
    return ExitCode.INTEGRITY if view.reading.damage else ExitCode.OK


def as_json(view: "RunView", path: Path, page: bytes) -> str:
    """What was written, for programs."""
    body = {
        "schema": SCHEMA,
        "rx_version": __version__,
        "path": str(path),
        "bytes": len(page),
        "sha256": sha256_of(page),
        "run_id": view.run.run_id,
        "phase": view.phase.value,
        "verdict": view.verdict or None,
    }
    return json.dumps(body, indent=1)

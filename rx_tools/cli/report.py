"""`rx report`: one self-contained HTML page of a run."""

from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Quiet, RunDir
from rx_tools.errors import ExitCode
from rx_tools.evidence.run_dir import open_run_dir


def command(
    directory: Annotated[
        Path | None, typer.Argument(help="The run directory; by default the one you are in.")
    ] = None,
    run_dir: RunDir = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The page; `-` writes it to stdout.")
    ] = Path("report.html"),
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

    view = look(open_run_dir(directory or run_dir))
    page = render_html(view) + "\n"
    if str(output) == "-":
        emit(page)
    else:
        replace_file(output, page.encode())
        if not quiet:
            say(f"{output}: {len(page.encode())} bytes")
    return ExitCode.INTEGRITY if view.reading.damage else ExitCode.OK


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the page and rename, so that nobody ever reads half of it."""
    half = path.with_name(f".{path.name}.writing")
    try:
        half.write_bytes(content)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)

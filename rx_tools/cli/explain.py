"""`rx explain`: the manual page of a code."""

import json
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode
from rx_tools.report.manual import Page, page_of, pages, render_index, render_page
from rx_tools.schemas.library import schema_id


def command(
    code: Annotated[str | None, typer.Argument(help="Such as RX214; without it, the list.")] = None,
    output: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Explain a code: what is checked, why, how to mend it, and where that is written.

    Example: rx explain RX214
    """
    chosen = list(pages().values()) if code is None else [page_of(code)]
    if quiet:
        return ExitCode.OK
    if output is Format.JSON:
        emit(as_json(chosen))
    else:
        emit(render_index() if code is None else render_page(chosen[0]))
    return ExitCode.OK


def as_json(chosen: list[Page]) -> str:
    """The pages as one document."""
    entries = [
        {
            "code": p.code,
            "title": p.title,
            "family": p.family,
            **{k.lower(): v for k, v in p.sections.items()},
        }
        for p in chosen
    ]
    document = {"schema": schema_id("manual"), "rx_version": __version__, "pages": entries}
    return json.dumps(document, indent=2, ensure_ascii=False)

"""Options that every command shares."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rx_tools.errors import UsageError


class Format(StrEnum):
    """How a command prints what it found."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")]
RunDir = Annotated[
    Path | None,
    typer.Option("--run-dir", help="The run directory; by default the one you are in."),
]


def one_of(directory: Path | None, run_dir: Path | None) -> Path | None:
    """The run directory, which may be given as an argument or as an option, once."""
    if directory is not None and run_dir is not None:
        raise UsageError(
            "the run directory is given twice", where="--run-dir", hint="leave one out"
        )
    return run_dir if directory is None else directory

"""`rx init`: a new spec to start from."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import say
from rx_tools.cli.options import Debug, Quiet
from rx_tools.cli.output import write_new
from rx_tools.errors import ExitCode
from rx_tools.schemas.library import schema


def command(
    path: Annotated[Path, typer.Argument(help="Where the new spec is written.")] = Path(
        "spec.json"
    ),
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Write a complete, valid spec to start from. An existing file is never overwritten.

    Example: rx init spec.json
    """
    write_new(path, new_spec())
    if not quiet:
        say(f"wrote {path}; now: edit it, rx validate {path}, rx plan {path}")
    return ExitCode.OK


def new_spec() -> str:
    """The example of the spec's own schema, as a file."""
    return json.dumps(schema("spec")["examples"][0], indent=2, ensure_ascii=False) + "\n"

"""`rx init`: a new spec to start from."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import say
from rx_tools.cli.options import Debug, Quiet
from rx_tools.errors import ExitCode, UsageError
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
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(new_spec())
    except FileExistsError:
        hint = "choose another name; nothing was written"
        raise UsageError("the file exists", where=str(path), hint=hint) from None
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError("there is no such folder", where=str(path.parent)) from None
    if not quiet:
        say(f"wrote {path}; now: edit it, rx validate {path}, rx plan {path}")
    return ExitCode.OK


def new_spec() -> str:
    """The example of the spec's own schema, as a file."""
    return json.dumps(schema("spec")["examples"][0], indent=2, ensure_ascii=False) + "\n"

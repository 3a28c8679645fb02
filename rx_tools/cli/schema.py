"""`rx schema`: the contract as JSON Schema."""

from typing import Annotated

import typer

from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, Quiet
from rx_tools.errors import ExitCode
from rx_tools.schemas.library import schema, schema_names, schema_text


def command(
    name: Annotated[str | None, typer.Argument(help="Which schema; without it, the list.")] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Print a JSON Schema (2020-12) of the contract, or list them.

    Example: rx schema record
    """
    text = schema_text(name) if name is not None else listing()
    if not quiet:
        emit(text)
    return ExitCode.OK


def listing() -> str:
    """One line per schema: its name and its title."""
    return "\n".join(f"{name:<18}{schema(name)['title']}" for name in schema_names())

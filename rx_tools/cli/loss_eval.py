"""`rx loss-eval`: the held-out loss gate on documents, and the module to score with."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.cli.output import write_new
from rx_tools.cli.single_gate import EvidenceFolder, as_json, as_text, judged
from rx_tools.errors import ExitCode, UsageError

GATE = "loss_eval"
MODULE = "loss_eval.py"


def command(
    spec: Annotated[Path | None, typer.Argument(help="The saved spec.")] = None,
    record: Annotated[Path | None, typer.Argument(help="The run record.")] = None,
    *,
    evidence: EvidenceFolder = None,
    standalone: Annotated[
        bool, typer.Option("--standalone", help="Write the module for experiment scripts instead.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write it; never replaces.")
    ] = None,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Check a record's loss_eval section: aggregation, totals, equal tokens, arm by arm.

    Exits 0 only if passed or not applicable. With --standalone it prints `loss_eval.py`, which
    needs nothing but the standard library.

    Example: rx loss-eval spec.json record.json --evidence evidence/
    """
    if standalone:
        return write_module(output, quiet)
    if spec is None or record is None:
        raise UsageError("needs a SPEC and a RECORD", hint="or --standalone")
    result = judged("rx_tools.checks.loss_eval", spec, record, evidence)
    if format is Format.JSON:
        emit(as_json(GATE, result))
    elif not quiet:
        emit(as_text(GATE, result))
    return result.status.exit_code


def module_source() -> str:
    """The text of the standalone module."""
    return files("rx_tools.numerics").joinpath(MODULE).read_text("utf-8")


def write_module(output: Path | None, quiet: bool) -> ExitCode:
    """Print the module, or write it to a file that does not exist yet."""
    if output is None:
        emit(module_source())
        return ExitCode.OK
    write_new(output, module_source())
    if not quiet:
        say(f"wrote {output}")
    return ExitCode.OK

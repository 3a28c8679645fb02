"""`rx loss-eval`: the held-out loss gate on documents, and the module to score with."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode, UsageError
from rx_tools.model.result import Result

SCHEMA = "urn:rx:schema:loss-eval:1"
MODULE = "loss_eval.py"


def command(
    spec: Annotated[Path | None, typer.Argument(help="The saved spec.")] = None,
    record: Annotated[Path | None, typer.Argument(help="The run record.")] = None,
    *,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Folder with the retained evidence files.")
    ] = None,
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
    result = judged(spec, record, evidence)
    if format is Format.JSON:
        body = {"schema": SCHEMA, "rx_version": __version__, **result.details}
        emit(json.dumps(body, indent=2, ensure_ascii=False))
    elif not quiet:
        emit("\n".join(lines_of(result)))
    return result.status.exit_code


def judged(spec: Path, record: Path, evidence: Path | None) -> Result:
    """The gate's answer to documents on disk."""
    from rx_tools.checks.loss_eval import judge
    from rx_tools.evidence.retained import retained_evidence
    from rx_tools.evidence.strict_json import read_document
    from rx_tools.model.record import Record
    from rx_tools.model.spec import Spec

    plan, document = read_document(spec).value, read_document(record).value
    return judge(Spec.of(plan), Record.of(document), retained_evidence(document, evidence))


def lines_of(result: Result) -> list[str]:
    """The status, then every reason with its code."""
    reasons = [f"  {reason.code} {reason.message}" for reason in result.reasons]
    return [f"loss_eval: {result.status.value}", *reasons]


def module_source() -> str:
    """The text of the standalone module."""
    return files("rx_tools.numerics").joinpath(MODULE).read_text("utf-8")


def write_module(output: Path | None, quiet: bool) -> ExitCode:
    """Print the module, or write it to a file that does not exist yet."""
    if output is None:
        emit(module_source())
        return ExitCode.OK
    with output.open("x", encoding="utf-8", newline="\n") as stream:
        stream.write(module_source())
    if not quiet:
        say(f"wrote {output}")
    return ExitCode.OK

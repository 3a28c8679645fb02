"""`rx parity`: how far one tensor file is from another, and what the tolerance cannot see."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.errors import ExitCode, UsageError
from rx_tools.numerics.tolerance import BLIND_WARNING, Tolerance
from rx_tools.schemas.library import schema_id

if TYPE_CHECKING:
    from rx_tools.numerics.parity import ParityErrors

POOLED = "pooled"
HEADINGS = ("tensor", "max_abs_error", "reference_max_abs", "relative_l2", "cosine")

Atol = Annotated[float | None, typer.Option("--atol", help="Absolute part of the tolerance.")]
Rtol = Annotated[
    float | None, typer.Option("--rtol", help="Part relative to the largest reference element.")
]
MinCosine = Annotated[float | None, typer.Option("--min-cosine", help="Smallest accepted cosine.")]


def command(
    actual: Annotated[Path, typer.Argument(help="A .safetensors or .npz file, or a folder.")],
    reference: Annotated[Path, typer.Argument(help="What it should be equal to.")],
    *,
    atol: Atol = None,
    rtol: Rtol = None,
    min_cosine: MinCosine = None,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Measure the parity errors of two tensor files, per tensor and pooled, in float64.

    Accepted when every tensor and the pool keep `max_abs_error <= atol + rtol *
    reference_max_abs` and the smallest cosine. Without a tolerance it only measures. Exits 1 when
    a tensor is not accepted or cannot be measured, 3 when there is nothing to compare.

    Example: rx parity step1.safetensors reference.npz --atol 1e-5 --rtol 1e-2 --min-cosine 0.999
    """
    from rx_tools.evidence.tensors import compare_files

    tolerance = tolerance_of(atol, rtol, min_cosine)
    errors = compare_files(actual, reference)
    rows = list(rows_of(errors, tolerance))
    if format is Format.JSON:
        emit(json.dumps(body_of(errors, rows, tolerance), indent=2, allow_nan=False))
    elif not quiet:
        emit(table(rows, tolerance))
    if not quiet:
        warn(rows, errors)
    return exit_code(rows, errors)


def tolerance_of(
    atol: float | None, rtol: float | None, min_cosine: float | None
) -> Tolerance | None:
    """The tolerance that was asked for; None where none was."""
    for name, value in (("--atol", atol), ("--rtol", rtol)):
        if value is not None and not 0 <= value < math.inf:
            raise UsageError(f"{name} must be a finite number, zero or above")
    if min_cosine is not None and not -1 <= min_cosine <= 1:
        raise UsageError("--min-cosine must lie between -1 and 1")
    if atol is None and rtol is None:
        return None if min_cosine is None else Tolerance(math.inf, 0.0, min_cosine)
    return Tolerance(atol or 0.0, rtol or 0.0, min_cosine)


def rows_of(errors: "ParityErrors", tolerance: Tolerance | None) -> Iterator[dict[str, Any]]:
    """One row per tensor, then the pool."""
    for name, each in [*errors.tensors.items(), (POOLED, errors)]:
        row: dict[str, Any] = {"tensor": name, "elements": each.size, **each.as_dict()}
        if tolerance is not None:
            row["accepted"] = tolerance.accepts(each)
        if tolerance is not None and each.measured:
            blind = tolerance.blind_scale_error(each["reference_max_abs"])
            row["blind_scale_error"] = blind if math.isfinite(blind) else None
        yield row


def body_of(
    errors: "ParityErrors", rows: list[dict[str, Any]], tolerance: Tolerance | None
) -> dict[str, Any]:
    """The JSON answer; `blind_scale_error` is null where nothing at all limits the scale."""
    limits = None
    if tolerance is not None:
        atol = tolerance.atol if math.isfinite(tolerance.atol) else None
        limits = {"atol": atol, "rtol": tolerance.rtol, "min_cosine": tolerance.min_cosine}
    return {
        "schema": schema_id("parity"),
        "rx_version": __version__,
        "status": "passed" if exit_code(rows, errors) is ExitCode.OK else "failed",
        "tolerance": limits,
        "tensors": rows[:-1],
        POOLED: rows[-1],
    }


def table(rows: list[dict[str, Any]], tolerance: Tolerance | None) -> str:
    """The rows as aligned text."""
    width = max(len(str(row["tensor"])) for row in rows)
    headings = f"{HEADINGS[0]:<{max(width, 6)}}" + "".join(f"{name:>19}" for name in HEADINGS[1:])
    if tolerance is not None:
        headings += f"{'blind scale':>13}  accepted"
    return "\n".join([headings, *(line_of(row, max(width, 6)) for row in rows)])


def line_of(row: dict[str, Any], width: int) -> str:
    """One row as text."""
    name = f"{row['tensor']:<{width}}"
    if "max_abs_error" not in row:
        return f"{name}  not measured: {row['reason']}"
    figures = [row["max_abs_error"], row["reference_max_abs"], row["relative_l2_error"]]
    line = name + "".join(f"{value:>19.6g}" for value in figures)
    line += f"{row['cosine_similarity']:>19.12g}"
    if "accepted" not in row:
        return line
    return line + f"{percent(row['blind_scale_error']):>13}  {'yes' if row['accepted'] else 'NO'}"


def percent(share: float | None) -> str:
    """A share in percent; `any` where there is no limit."""
    return "any" if share is None else f"{100 * share:.3g} %"


def warn(rows: list[dict[str, Any]], errors: "ParityErrors") -> None:
    """Say on stderr what went wrong and which tolerances are blind."""
    if errors.reason:
        say(f"not measured: {errors.reason}")
    for row in rows:
        blind = row.get("blind_scale_error", 0.0)
        if blind is None or blind > BLIND_WARNING:
            say(
                f"warning: {row['tensor']}: this tolerance cannot see a pure scale error of "
                f"{percent(blind)}"
            )


def exit_code(rows: list[dict[str, Any]], errors: "ParityErrors") -> ExitCode:
    """0 when all was measured and accepted; 3 when there was nothing to compare."""
    if errors.reason == "no tensors":
        return ExitCode.UNVERIFIED
    passed = errors.measured and all(row.get("accepted", True) for row in rows)
    return ExitCode.OK if passed else ExitCode.FINDINGS

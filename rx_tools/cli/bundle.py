"""`rx bundle`: pack the evidence of a run."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.cli.output import check_parent
from rx_tools.errors import ExitCode, UnverifiedError
from rx_tools.evidence.bundle import BundleInfo, bundle
from rx_tools.evidence.contents import WRITTEN
from rx_tools.evidence.layout import LEDGER
from rx_tools.evidence.ledger import Ledger, LedgerHeldError
from rx_tools.evidence.run_dir import refuse_bundle

PATIENCE = 10.0
"""Seconds to wait for another bundler of the same run."""
SCHEMA = "urn:rx:schema:bundle-written:1"


def command(
    run_dir: Annotated[Path, typer.Argument(help="The run directory.")] = Path(),
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The new bundle; by default <run directory>.bundle."),
    ] = None,
    zip: Annotated[bool, typer.Option("--zip", help="Write one reproducible zip file.")] = False,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Pack a run into a bundle that strangers can verify offline; it is never replaced.

    Keep the root digest that it prints somewhere else: it is what fixes every byte.

    Example: rx bundle runs/small-20261129T201000Z -o small.bundle
    """
    ledger = run_dir / LEDGER
    if not os.path.lexists(ledger):
        hint = "name a run directory, or run this inside one"
        raise UnverifiedError("there is no ledger", where=str(run_dir), hint=hint)
    refuse_bundle(run_dir)
    place = output or default_place(run_dir, zip)
    check_parent(place)
    with patiently_opened(ledger) as held:
        info = bundle(run_dir, place, zip)
        note = {"root_digest": info.root_digest, "zip": zip}
        if not (held.lines[-1].event == WRITTEN and held.lines[-1].data == note):
            held.append(WRITTEN, note)
    show(info, format, quiet)
    return ExitCode.OK


def patiently_opened(path: Path) -> Ledger:
    """The ledger, once another bundler lets go of it; a run that goes on holding it is refused."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return Ledger.open(path)
        except LedgerHeldError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def default_place(run_dir: Path, zipped: bool) -> Path:
    """Beside the run directory, named after it."""
    place = run_dir.resolve()
    return place.with_name(f"{place.name}.bundle{'.zip' if zipped else ''}")


def show(info: BundleInfo, format: Format, quiet: bool) -> None:
    """The root digest is data, the rest is prose."""
    if format is Format.JSON:
        body = {
            "schema": SCHEMA,
            "rx_version": __version__,
            "path": str(info.path),
            "root_digest": info.root_digest,
            "files": info.files,
            "size": info.size,
            "run_id": info.run_id,
        }
        emit(json.dumps(body, indent=2, ensure_ascii=False))
        return
    emit(info.root_digest)
    if not quiet:
        say(f"{info.path}: {info.files} files, {info.size} bytes; above is its root digest")

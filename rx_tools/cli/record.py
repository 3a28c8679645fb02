"""`rx record DIR`: the run record as it stands, ready to hand in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rx_tools.checks.evidence_files import is_attachment
from rx_tools.cli.console import emit
from rx_tools.cli.options import Debug, RunDir, one_of
from rx_tools.errors import ExitCode, IntegrityError, UnverifiedError, UsageError
from rx_tools.evidence.digest import sha256_file
from rx_tools.evidence.ledger import read_ledger
from rx_tools.evidence.run_dir import RunDir as RunDirectory
from rx_tools.evidence.run_dir import open_run_dir
from rx_tools.runner.whole.record import with_contents


def command(
    directory: Annotated[Path | None, typer.Argument(help="The run directory.")] = None,
    run_dir: RunDir = None,
    references: Annotated[
        bool, typer.Option("--references", help="Leave the evidence files' contents out.")
    ] = False,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            "--attach", help="NAME=URL: hand this file in by its HTTPS /attachments/ URL."
        ),
    ] = None,
    update: Annotated[
        int | None, typer.Option("--update", min=1, help="An earlier update by its number.")
    ] = None,
    debug: Debug = False,
) -> ExitCode:
    """Print the newest record, with the text of every evidence file in it.

    Example: rx record runs/exp_9574bbb76e-20261129T201000Z > record.json
    """
    run = open_run_dir(one_of(directory, run_dir))
    posted = len(run.record_paths())
    if update is not None and not update <= posted:
        raise UsageError(f"{update} is no update: {posted} were posted", where="--update")
    record = run.record(update)
    if not record:
        raise UnverifiedError(
            "no record has been posted yet", where=str(run.path), hint="`rx preflight` comes first"
        )
    refuse_unannounced(run, run.record_paths()[-1 if update is None else update - 1])
    attached = attachments(attach or ())
    emit(json.dumps(record if references else with_contents(run, record, attached), indent=1))
    return ExitCode.OK


def attachments(texts: Sequence[str]) -> dict[str, str]:
    """File name → URL, of `NAME=URL` texts."""
    attached = {}
    for text in texts:
        name, _, url = text.partition("=")
        if not is_attachment(url):
            raise UsageError(
                f"{text!r} is not NAME=URL with an HTTPS /attachments/ URL",
                where="--attach",
                hint="no user info, query or fragment, and the file's name at its end",
            )
        attached[name] = url
    return attached


def refuse_unannounced(run: RunDirectory, path: Path) -> None:
    """Only an update that the intact ledger announced, byte for byte, is handed in."""
    reading = read_ledger(run.ledger_path, run=run.run_id)
    if reading.damage:
        raise IntegrityError(str(reading.damage[0]), where=str(run.ledger_path))
    announced = {line.files.get(path.name) for line in reading.lines}
    if sha256_file(path) in announced:
        return
    raise IntegrityError(
        "is not what the ledger announced",
        where=str(path),
        hint="after a crash, `rx run --resume` posts the record anew",
    )

"""`rx train --arm NAME`: one arm, only with clearance."""

from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.bench import Asked, workbench
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Quiet, RunDir
from rx_tools.cli.watching import EventsFile, watching
from rx_tools.errors import ExitCode, UsageError
from rx_tools.runner.arms.stop import StopSignal, stopping_on_interrupt
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.complete import train_one


def command(
    arm: Annotated[str, typer.Option("--arm", help="The arm's name in the spec.")],
    spec: Annotated[
        Path | None, typer.Argument(help="The spec, to make sure that it is this run's.")
    ] = None,
    run_dir: RunDir = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the arm's last checkpoint.")
    ] = False,
    events_file: EventsFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Train and score one arm of a run whose gates have opened.

    Refuses without a matching, unspent clearance for this arm, and says what changed.

    Example: rx train --arm baseline_lr1e-4_seed0 --run-dir runs/exp-20261129T201000Z
    """
    stop = StopSignal()
    with watching(quiet, events_file) as watch:
        asked = Asked(spec, run_dir, resume=True, quiet=quiet, watch=watch, stop=stop)
        with workbench(asked) as bench, stopping_on_interrupt(stop, say):
            planned = bench.plan.arm(arm)
            if planned is None:
                known = ", ".join(one.name for one in bench.plan.arms)
                raise UsageError(f"no arm is named {arm!r}", where="--arm", hint=f"one of {known}")
            if arm in {data["arm"] for data in events(bench.ledger.lines, "arm_scored")}:
                raise UsageError("is done: trained and scored", where=arm, hint="rx status")
            train_one(bench, stop, planned, resume=resume)
            scored = events(bench.ledger.lines, "arm_scored")[-1]
    if not quiet:
        emit(f"{arm}: {planned.steps} steps, token mean NLL {scored['token_mean']:.6f}")
    return ExitCode.OK

"""`rx run SPEC`: the whole way from the spec to a verified bundle."""

from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.bench import Asked, workbench
from rx_tools.cli.console import emit, say
from rx_tools.cli.decide import text_of
from rx_tools.cli.deciding import from_run
from rx_tools.cli.options import Debug, Quiet, RunDir
from rx_tools.cli.preflight import (
    Accept,
    Answers,
    Data,
    Deviate,
    Like,
    Metrics,
    PlanFile,
    Probes,
    Rehearse,
    exit_code,
    text_lines,
)
from rx_tools.cli.supplied import supplied_metrics
from rx_tools.cli.watching import EventsFile, watching
from rx_tools.errors import ExitCode
from rx_tools.evidence.bundle import bundle, is_bundle_of, root_digest
from rx_tools.evidence.claim import State
from rx_tools.evidence.verify import Verification, verify
from rx_tools.planning.deviate import parse_changes
from rx_tools.runner.arms.stop import StopSignal, stopping_on_interrupt
from rx_tools.runner.preflight.measure import Wishes, preflight
from rx_tools.runner.whole.clearance import events
from rx_tools.runner.whole.complete import complete, recorded_ending
from rx_tools.runner.whole.gates import gates_named
from rx_tools.runner.whole.workbench import Workbench


def command(
    spec: Annotated[Path | None, typer.Argument(help="The experiment's spec.")] = None,
    plan: PlanFile = None,
    answers: Answers = None,
    run_dir: RunDir = None,
    rehearse: Rehearse = False,
    like: Like = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --run-dir.")
    ] = False,
    accept: Accept = None,
    metrics: Metrics = None,
    probes: Probes = None,
    data: Data = None,
    deviate: Deviate = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, max=32, help="Arms that run at once.")
    ] = None,
    events_file: EventsFile = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Plan, preflight, selection, confirmation, scoring, decision, bundle, verification.

    With --rehearse everything runs on the embedded service, without credentials.

    Example: rx run spec.json --rehearse
    """
    wishes = Wishes(gates_named(accept or ()), supplied_metrics(metrics), probes or ())
    stop = StopSignal()
    with watching(quiet, events_file) as watch:
        asked = Asked(
            spec,
            run_dir,
            rehearse,
            like,
            plan,
            answers,
            data,
            resume,
            quiet,
            parse_changes(deviate or ()),
            watch=watch,
            stop=stop,
        )
        with workbench(asked) as bench, stopping_on_interrupt(stop, say):
            closed = open_gates(bench, wishes, quiet)
            if closed is not None:
                return closed
            complete(bench, stop, jobs=jobs or bench.plan.jobs, accepted=wishes.accepted)
            place = bench.run.path
    if not quiet:
        emit(text_of(from_run(place)))
    return pack(place, quiet)


def open_gates(bench: Workbench, wishes: Wishes, quiet: bool) -> ExitCode | None:
    """Run the preflight unless this run has its clearance; the exit code if gates stay closed."""
    if events(bench.ledger.lines, "clearance_issued"):
        return None
    with recorded_ending(bench):
        outcome = preflight(bench, wishes)
    if not quiet:
        emit("\n".join(text_lines(outcome)))
    return None if outcome.cleared else exit_code(outcome)


def pack(run_dir: Path, quiet: bool) -> ExitCode:
    """Bundle the run beside its directory, once, and verify the bundle as a stranger would."""
    place = run_dir.with_name(run_dir.name + ".bundle")
    if not is_bundle_of(place, run_dir):
        bundle(run_dir, place)
    verification = verify(place, root=root_digest(run_dir))
    if not quiet:
        emit(f"bundle: {place}\nroot digest: {verification.root_digest}")
        emit(verdict_line(verification))
    return verification.exit_code


def verdict_line(verification: Verification) -> str:
    """How many claims a stranger can verify, and which are contradicted."""
    counts = ", ".join(f"{len(verification.of(state))} {state.value}" for state in State)
    wrong = [
        f"\n  {claim.subject}: {claim.message}" for claim in verification.of(State.CONTRADICTED)
    ]
    return f"verify: {counts}{''.join(wrong)}"

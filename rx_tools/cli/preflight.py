"""`rx preflight SPEC`: every applicable gate measured, then the clearance."""

from pathlib import Path
from typing import Annotated

import typer

from rx_tools.cli.bench import Asked, workbench
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet, RunDir
from rx_tools.cli.supplied import supplied_metrics
from rx_tools.errors import ExitCode, worst
from rx_tools.planning.deviate import parse_changes
from rx_tools.report.gates import gate_lines
from rx_tools.report.preflight import preflight_json
from rx_tools.runner.arms.stop import stopping_on_interrupt
from rx_tools.runner.preflight.feasibility import Downsizing
from rx_tools.runner.preflight.measure import Preflight, Wishes, preflight
from rx_tools.runner.whole.complete import recorded_ending
from rx_tools.runner.whole.gates import gates_named

Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-unverified",
        help="Train although this gate is unverified; the verdict is then at most inconclusive.",
    ),
]
Rehearse = Annotated[
    bool, typer.Option("--rehearse", help="Use the embedded service and the built-in chats.")
]
Like = Annotated[
    str | None,
    typer.Option("--like", help="With --rehearse: `stock` hides what a stock service lacks."),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan that `rx plan` wrote.")]
Answers = Annotated[Path | None, typer.Option("--answers", help="JSON: question → answer.")]
Metrics = Annotated[
    Path | None,
    typer.Option("--metrics", help="JSON: activation metric → value measured elsewhere."),
]
Deviate = Annotated[
    list[str] | None,
    typer.Option(
        "--deviate",
        help="A change that is declared before training: model=NAME, steps=N or secondary=none.",
    ),
]
Probes = Annotated[
    list[Path] | None,
    typer.Option("--probes", help="An optimizer's probe report measured elsewhere; shown as such."),
]
Data = Annotated[
    Path | None, typer.Option("--data", help="A local folder in place of the hub's dataset.")
]


def command(
    spec: Annotated[Path, typer.Argument(help="The experiment's spec.")],
    plan: PlanFile = None,
    answers: Answers = None,
    run_dir: RunDir = None,
    rehearse: Rehearse = False,
    like: Like = None,
    accept: Accept = None,
    metrics: Metrics = None,
    probes: Probes = None,
    data: Data = None,
    deviate: Deviate = None,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Measure every applicable gate on the service, write the evidence, issue the clearance.

    Exit 0 when every gate opens, 3 when evidence is missing, 1 when a gate failed.

    Example: rx preflight spec.json --rehearse
    """
    wishes = Wishes(gates_named(accept or ()), supplied_metrics(metrics), probes or ())
    changes = parse_changes(deviate or ())
    asked = Asked(spec, run_dir, rehearse, like, plan, answers, data, quiet=quiet, changes=changes)
    with workbench(asked) as bench, stopping_on_interrupt(asked.stop, say):
        with recorded_ending(bench):
            outcome = preflight(bench, wishes)
        if format is Format.JSON:
            emit(preflight_json(outcome, str(bench.run.path)))
        elif not quiet:
            emit("\n".join(text_lines(outcome)))
    return exit_code(outcome)


def text_lines(outcome: Preflight) -> list[str]:
    """The gate table and what follows from it."""
    lines = gate_lines(outcome.table.results, outcome.table.used_acceptances)
    lines += [f"✗ optimizer: {what}" for what in outcome.contradicted]
    lines.append(f"projected: {outcome.minutes:.1f} minutes")
    lines += [proposal_line(proposal) for proposal in outcome.proposals]
    cleared = "cleared: the first arms may train" if outcome.cleared else "not cleared"
    return [*lines, cleared]


def proposal_line(proposal: Downsizing) -> str:
    """One way to fit the budget, or why it is none."""
    taken = "refused" if proposal.refused else f"saves {proposal.saves_minutes:.1f} minutes"
    return f"  to fit: {proposal.change}: {taken}; {proposal.cost}"


def exit_code(outcome: Preflight) -> ExitCode:
    """0 only if every gate is open; an accepted gate counts as open for the runner, not here."""
    if outcome.contradicted:
        return ExitCode.FINDINGS
    if outcome.cleared:
        return ExitCode.OK
    say("rx: the gates stay closed, no arm may train")
    return worst(outcome.table.results[gate].status.exit_code for gate in outcome.table.closed)

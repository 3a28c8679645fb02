"""`rx plan SPEC`: the frozen plan, what it still asks, and what it takes to be definitive."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from rx_tools import __version__
from rx_tools.checks.deciding.power_report import CriterionPower, power_report
from rx_tools.checks.kinds import Kind
from rx_tools.cli.console import emit, say
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet
from rx_tools.cli.output import check_new, write_new
from rx_tools.errors import ExitCode
from rx_tools.evidence.strict_json import read_document
from rx_tools.evidence.wanted import read_as
from rx_tools.model.json import as_object
from rx_tools.planning.derive import Derivation, derive
from rx_tools.planning.discrimination import Advice, discrimination_advice
from rx_tools.planning.names import experiment_name
from rx_tools.planning.plan import Plan
from rx_tools.planning.plan_shape import refuse_misshapen
from rx_tools.planning.questions import answers_in
from rx_tools.planning.secondary import Secondary, secondary_evaluations
from rx_tools.report.plan import plan_lines
from rx_tools.report.prospects import advice_lines, power_lines, secondary_lines


def command(
    spec: Annotated[Path, typer.Argument(help="The experiment's spec.")],
    answers: Annotated[
        Path | None, typer.Option("--answers", help="JSON: question name → answer.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the plan here; never replaces.")
    ] = None,
    sd: Annotated[
        float | None,
        typer.Option("--sd", help="Standard deviation of the effect over seeds: adds the power."),
    ] = None,
    effect: Annotated[
        float | None,
        typer.Option("--effect", help="With --sd: the true effect that the chances are for."),
    ] = None,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Freeze what the spec leaves to prose: roles, readings, data order, schedule, gates.

    What cannot be derived is asked for by name; answer it in a JSON file. Exit 3 while a
    question is open.

    Example: rx plan spec.json --answers answers.json -o plan.json
    """
    if output:
        check_new(output)
    document = read_as(spec, Kind.SPEC)
    given = answers_in(read_document(answers).value, str(answers)) if answers else {}
    derivation = derive(
        as_object(document.value),
        document.sha256,
        experiment=experiment_name(spec.name),
        answers=given,
    )
    rule = as_object(document.value).get("decision_rule")
    power = power_of(derivation.plan, rule, sd, effect) if sd is not None else ()
    advice = discrimination_advice(as_object(document.value))
    secondary = secondary_evaluations(as_object(document.value))
    show(derivation, Outlook(power, secondary, advice), format, quiet)
    if derivation.blocking or derivation.unknown_answers:
        return ExitCode.UNVERIFIED
    refuse_misshapen(derivation.plan, str(spec))
    if output:
        write_new(output, json.dumps(derivation.plan.to_json(), indent=1) + "\n")
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the plan can be expected to say, and what the spec cannot tell apart."""

    power: Sequence[CriterionPower]
    secondary: Sequence[Secondary]
    advice: Sequence[Advice]


def power_of(
    plan: Plan, rule: object, sd: float | None, effect: float | None
) -> Sequence[CriterionPower]:
    """The prospects of every criterion for the declared standard deviation."""
    sizes = [len(grid.learning_rates) for grid in plan.grids]
    return power_report(rule, sd or 0.0, effect=effect, grid_sizes=sizes)


def show(derivation: Derivation, outlook: Outlook, format: Format, quiet: bool) -> None:
    """Print the plan as JSON, or its tables; open questions go to stderr."""
    for question in derivation.questions:
        say(f"open: {question}")
    for name in derivation.unknown_answers:
        say(f"unused answer: {name} (no question has this name)")
    if quiet:
        return
    if format is Format.JSON:
        body = derivation.plan.to_json() | {
            "rx_version": __version__,
            "questions": [
                {"name": q.name, "text": q.text, "options": list(q.options)}
                for q in derivation.questions
            ],
            "power": [asdict(one) for one in outlook.power],
            "secondary": [asdict(one) for one in outlook.secondary],
            "advice": [asdict(one) for one in outlook.advice],
        }
        emit(json.dumps(body, indent=1))
        return
    lines = [*plan_lines(derivation.plan), *secondary_lines(outlook.secondary)]
    lines += power_lines(outlook.power, derivation.plan)
    emit("\n".join([*lines, *advice_lines(outlook.advice)]))

"""`rx decide`: the verdict, recomputed from rows."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rx_tools import __version__
from rx_tools.cli.console import emit, say
from rx_tools.cli.deciding import Answer, from_documents, from_rule, from_run
from rx_tools.cli.options import Debug, Format, FormatOption, Quiet, RunDir
from rx_tools.errors import ExitCode, UsageError

SCHEMA = "urn:rx:schema:decision-answer:1"


def command(
    spec: Annotated[Path | None, typer.Argument(help="The saved spec.")] = None,
    *,
    observations: Annotated[
        Path | None, typer.Option("--observations", help="Rows: JSONL, an array, or an object.")
    ] = None,
    rule: Annotated[
        Path | None, typer.Option("--rule", help="A bare decision_rule in place of a spec.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", help="The run record: arms, deviations, gates.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="The frozen plan: readings of the margins.")
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Folder with the record's evidence files.")
    ] = None,
    run_dir: RunDir = None,
    exit_verdict: Annotated[
        bool,
        typer.Option(
            "--exit-verdict", help="Exit 10 refuted, 11 inconclusive, 12 protocol breached."
        ),
    ] = False,
    format: FormatOption = Format.TEXT,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Recompute the decision from raw rows under the frozen rule.

    Give a SPEC with --observations (and --record, --plan), or --rule with --observations; in a
    run directory, or with --run-dir, nothing else is needed. Exits 0 whichever way complete
    evidence decides, 1 for malformed evidence, 3 while evidence is missing.

    Example: rx decide spec.json --observations scored-observations.jsonl --plan plan.json
    """
    answer = asked(spec, rule, observations, record, plan, evidence, run_dir)
    if format is Format.JSON:
        emit(json.dumps(body_of(answer), indent=2, ensure_ascii=False, allow_nan=False))
    elif not quiet:
        emit(text_of(answer))
        if answer.not_looked_at:
            say(f"not looked at without a record: {', '.join(answer.not_looked_at)}")
    return answer.exit_code(by_verdict=exit_verdict)


def asked(
    spec: Path | None,
    rule: Path | None,
    observations: Path | None,
    record: Path | None,
    plan: Path | None,
    evidence: Path | None,
    run_dir: Path | None,
) -> Answer:
    """The answer to one of the three forms; one line for anything between them."""
    if spec is not None and rule is not None:
        raise UsageError("give a SPEC or --rule, not both")
    if spec is None and rule is None:
        if observations or record or plan or evidence:
            raise UsageError("rows need a rule", hint="give a SPEC or --rule")
        return from_run(run_dir)
    if run_dir is not None:
        raise UsageError("--run-dir has its own spec and rows", hint="leave the other out")
    if observations is None:
        raise UsageError("needs --observations ROWS")
    if spec is not None:
        return from_documents(spec, observations, record, plan, evidence)
    if record or plan or evidence:
        raise UsageError("--record, --plan and --evidence go with a SPEC")
    assert rule is not None
    return from_rule(rule, observations)


def body_of(answer: Answer) -> dict[str, Any]:
    """The JSON answer, every number unrounded."""
    from rx_tools.checks.deciding.shown import decision_entry
    from rx_tools.report.decision import deciding_line

    return {
        "schema": SCHEMA,
        "rx_version": __version__,
        "deciding_line": deciding_line(answer.decision),
        **decision_entry(answer.decision),
        "assumptions": list(answer.assumptions),
        "observations": answer.observations,
        "record": answer.record,
        "not_looked_at": list(answer.not_looked_at),
        "descriptive": answer.descriptive(),
    }


def text_of(answer: Answer) -> str:
    """The answer for people."""
    from rx_tools.report.decision import decision_lines

    text = decision_lines(answer.decision, answer.rule, answer.assumptions)
    if answer.record is None:
        return text
    says = f"{answer.record['verdict']}/{answer.record['outcome_reason']}"
    agrees = "the same" if answer.record["agrees"] else "SOMETHING ELSE"
    return f"{text}\n\nthe record says {agrees}: {says}"

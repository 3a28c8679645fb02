"""The decision, recomputed from the rows: does the record say what its own evidence shows?

**What.** The frozen rule is applied to the retained observation rows: cell means, one contrast per
training seed, one simultaneous interval per criterion, both readings of the margin, and the outcome
table. The gate passes when the record's verdict and reason are the recomputed ones, whatever they
are. Nothing that the executor states about an interval is used.

**Why.** A verdict that nobody can recompute is an opinion. Rows that are doubled, missing, scored
by another evaluator or from an unscheduled seed move it unnoticed.

**Fix.** Keep one row for every role, item and scheduled seed in one JSONL file, retain it under the
name and hash that the record states, and report what `rx decide` answers.

**Source.** Exchange contract, sections 9, 12 and 16.5.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rx_tools.checks.applicability import check_applicability
from rx_tools.checks.deciding.cell_items import Cell
from rx_tools.checks.deciding.cells import means_of, read_observations
from rx_tools.checks.deciding.decide import Decision, decide
from rx_tools.checks.deciding.from_record import (
    circumstances_of,
    evaluators_in,
    frozen_items,
    frozen_readings,
    retained_plan,
    stated_scores,
)
from rx_tools.checks.deciding.issues import Issue, Row
from rx_tools.checks.deciding.planned_grids import planned_grid_issues
from rx_tools.checks.deciding.readings import Outcome
from rx_tools.checks.deciding.rule import finite, read_rule
from rx_tools.checks.deciding.shown import criterion_entry
from rx_tools.checks.deciding.source import Source, read_source
from rx_tools.checks.grading import Problem, worst
from rx_tools.model.evidence import Evidence
from rx_tools.model.json import JsonObject
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Result, Status
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX401": "a required arm was not completed",
    "RX402": "another hypothesis than the spec's was tested",
    "RX403": "the decision rule is malformed",
    "RX404": "the rule's unit or method is unknown, or they do not belong together",
    "RX405": "alpha does not lie between 0 and 1",
    "RX406": "an assumption of the method is not stated to hold",
    "RX407": "the seeds are no list of different integers",
    "RX408": "a criterion's id is missing or not unique",
    "RX409": "a criterion's weights are no numbers, or all are zero",
    "RX410": "a margin is no finite number",
    "RX411": "a frozen reading is neither margin nor band",
    "RX412": "the record must hold exactly one of observations and observations_file",
    "RX413": "the observation file is named by a path or a URL",
    "RX414": "the observation file is not retained under its hash",
    "RX415": "there are more observations than the contract allows",
    "RX416": "the observations cannot be read unambiguously",
    "RX417": "an observation row lacks a member or has one of the wrong type",
    "RX418": "a row's seed is no integer",
    "RX419": "a row's value is no finite number",
    "RX420": "an observation is there twice",
    "RX421": "a row is of a seed that the rule does not schedule",
    "RX422": "one metric was scored by several evaluators",
    "RX423": "a row is of an item outside the frozen list",
    "RX424": "a role has no rows for a scheduled seed",
    "RX425": "a role lacks items that others have",
    "RX426": "the selection was not frozen before the confirmation",
    "RX427": "the selection's items, grids or rates are not recorded",
    "RX428": "search and confirmation share items",
    "RX429": "an observed item is no confirmation item",
    "RX430": "a selected learning rate is not on its grid",
    "RX431": "a selected learning rate is at the edge of its grid",
    "RX432": "a weight edit lacks equal budgets of its arms",
    "RX433": "a required gate is not passed",
    "RX434": "a gate was accepted unverified, which caps the verdict",
    "RX435": "a single seed cannot give an interval",
    "RX436": "all seeds have the same effect",
    "RX437": "the seeds differ by no more than rounding",
    "RX438": "an end of an interval is larger than any double",
    "RX439": "the evaluator states no explicit item ids",
    "RX440": "the record's verdict is not the recomputed one",
    "RX441": "the record has no verdict yet",
    "RX442": "a stated score is not the mean of its rows",
    "RX443": "a decision rule allows what is rarely meant",
    "RX444": "a value lies outside the range that the method needs",
    "RX445": "the rows name an evaluator that the record does not hold",
}

NO_VERDICT = "The record has no verdict to compare with the recomputed one."
SCORE_TOLERANCE = Fraction(1, 10**12)
WEIGHED_GATES = (
    Gate.CORRECTNESS,
    Gate.RESTORATION,
    Gate.ACTIVATION,
    Gate.FEASIBILITY,
    Gate.GENERATION_AUDIT,
    Gate.EVALUATOR,
    Gate.LOSS_EVAL,
)
"""A verdict is definitive only when each of these is passed or does not apply."""

ABSENT = frozenset(
    {
        "OBSERVATIONS_FILE_NOT_RETAINED",
        "ITEMS_NOT_EXPLICIT",
        "MISSING_CELL",
        "MISSING_ITEM",
        "SELECTION_ITEMS_UNRESOLVED",
        "SELECTION_NOT_FROZEN",
        "SELECTION_NOT_RECORDED",
        "SELECTION_BUDGETS",
    }
)
"""Issues that say that evidence is missing, not that it is malformed."""

MALFORMED = frozenset({Row.RULE, Row.SOURCE, Row.ROWS})
OWN_ROWS = frozenset(Row) - {Row.ARMS, Row.HYPOTHESIS, Row.GATES}
"""The rows of the outcome table that the answer lists; the others have judges of their own."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The decision, the means behind it, and whether rows could be read at all."""

    decision: Decision
    means: Mapping[Cell, Fraction]


def judge(
    spec: Spec, record: Record, evidence: Evidence, gates: Mapping[str, Status] | None = None
) -> Result:
    """The decision gate; `details` is the server's answer. Never raises.

    `gates` holds the status of the other gates; without it they are judged here.
    """
    applies = check_applicability(spec.raw, Gate.DECISION)
    if not applies["enforce"]:
        return Result(Status.NOT_APPLICABLE, (), answer(Status.NOT_APPLICABLE, None, (), applies))
    statuses = judged_gates(spec, record, evidence) if gates is None else gates
    recomputed = recompute(spec, record, evidence, statuses)
    problems = [
        *issue_problems(recomputed.decision.issues, record),
        *score_problems(record, recomputed.means, retained_plan(evidence)),
    ]
    if worst(problem.status for problem in problems) is Status.PASSED:
        problems += agreement_problems(record, recomputed.decision)
    problems += [warning(text) for text in recomputed.decision.warnings]
    status = worst(problem.status for problem in problems)
    details = answer(status, recomputed.decision, problems, applies)
    return Result(status, tuple(problem.finding for problem in problems), details)


def judged_gates(spec: Spec, record: Record, evidence: Evidence) -> dict[str, Status]:
    """The status of every other gate that a verdict hangs on."""
    from rx_tools.checks.validation import JUDGES

    return {gate.value: JUDGES[gate](spec, record, evidence).status for gate in WEIGHED_GATES}


def recompute(
    spec: Spec,
    record: Record,
    evidence: Evidence,
    gates: Mapping[str, Status],
    *,
    plan: JsonObject | None = None,
    source: Source | None = None,
) -> Recomputed:
    """The decision that spec, record and evidence give.

    `plan` is the frozen plan where it is at hand, else it is looked for in the evidence; `source`
    are rows that were handed over, else those that the record names.
    """
    rule = spec.raw.get("decision_rule")
    rows, source_issues = source or read_source(record.raw.get("decision"), evidence)
    frozen, _ = read_rule(rule)
    scored_by = evaluators_in(frozen, rows) if frozen else {}
    items, item_issues = frozen_items(spec, record, evidence, scored_by)
    weighed = {name.value: gates[name].value for name in WEIGHED_GATES if name in gates}
    given = replace(
        circumstances_of(spec, record, evidence, weighed),
        source_issues=source_issues,
        evidence_issues=(
            () if source_issues else (*item_issues, *planned_grid_issues(spec, record))
        ),
    )
    reading = frozen_readings(spec, retained_plan(evidence) if plan is None else plan)
    decision = decide(rule, rows, items=items, reading=reading, circumstances=given)
    if frozen is None or rows is None or not decision.criteria:
        return Recomputed(decision, {})
    return Recomputed(decision, means_of(read_observations(frozen, rows, items)[0]))


def issue_problems(issues: Iterable[Issue], record: Record) -> Iterator[Problem]:
    """What is wrong with rule, rows and selection; a verdict that says so can still agree."""
    for issue in issues:
        if issue.row not in OWN_ROWS:
            continue
        place = issue.place if issue.place.startswith("$") else "$.decision"
        document = "spec" if issue.row is Row.RULE else "record"
        yield Problem(status_of(issue, record), issue.code, str(issue), place, document)


def status_of(issue: Issue, record: Record) -> Status:
    """Absent evidence is unverified, malformed evidence invalid; the rest is an outcome."""
    absent = issue.name in ABSENT
    if issue.name == "OBSERVATIONS_EXACTLY_ONE":
        section = record.section("decision")
        absent = not ("observations" in section and "observations_file" in section)
    if absent:
        return Status.UNVERIFIED
    return Status.INVALID if issue.row in MALFORMED else Status.PASSED


def score_problems(
    record: Record, means: Mapping[Cell, Fraction], plan: JsonObject
) -> Iterator[Problem]:
    """Every stated score and loss of a role and seed is the mean of its rows, to 1e-12."""
    for cell, value, place in stated_scores(record, plan):
        mean = means.get(cell)
        if mean is None:
            continue
        if not finite(value):
            yield Problem(Status.INVALID, "RX442", f"A score is {value!r}, no number.", place)
        elif not abs(Fraction(value) - mean) <= SCORE_TOLERANCE * max(abs(mean), Fraction(1)):
            _, role, seed = cell
            text = f"{role}, seed {seed}: the score {value!r} is not the mean {float(mean)!r}."
            yield Problem(Status.FAILED, "RX442", text, place)


def agreement_problems(record: Record, decision: Decision) -> Iterator[Problem]:
    """The record's verdict and reason are the recomputed ones, or those of what was tested."""
    if record.verdict is None:
        yield Problem(Status.UNVERIFIED, "RX441", NO_VERDICT, "$.verdict")
        return
    if says_the_same(record, decision):
        return
    stated = Outcome(record.verdict, record.outcome_reason or record.verdict)
    because = f" ({decision.issues[0]})" if decision.issues else ""
    text = (
        f"The record says {stated.verdict}/{stated.reason};"
        f" recomputed: {decision.verdict}/{decision.outcome_reason}{because}"
    )
    yield Problem(Status.FAILED, "RX440", text, "$.verdict")


def says_the_same(record: Record, decision: Decision) -> bool:
    """Whether a record states the recomputed outcome, or that of what was tested instead."""
    stated = Outcome(record.verdict or "", record.outcome_reason or record.verdict or "")
    return stated in (decision.outcome, decision.tested)


def warning(text: str) -> Problem:
    """Something that decides nothing."""
    return Problem(Status.PASSED, "RX443", text, "$.decision_rule", "spec")


def answer(
    status: Status,
    decision: Decision | None,
    problems: Iterable[Problem],
    applies: JsonObject,
) -> dict[str, Any]:
    """The answer in the server's shape."""
    criteria = decision.criteria if decision else ()
    return {
        "status": status.value,
        "issues": [problem.message for problem in problems if problem.code != "RX443"],
        "criteria": [criterion_entry(criterion) for criterion in criteria],
        "outcome_reason": decision.outcome_reason if decision else None,
        "applicability": applies,
    }

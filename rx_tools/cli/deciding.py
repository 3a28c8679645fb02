"""What `rx decide` works on: the three forms of its inputs, and what its answer exits with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rx_tools.checks.deciding.circumstances import Circumstances
from rx_tools.checks.deciding.decide import Decision, decide
from rx_tools.checks.deciding.descriptive import leave_one_out
from rx_tools.checks.deciding.from_record import frozen_readings
from rx_tools.checks.deciding.issues import Row
from rx_tools.checks.deciding.rule import FrozenRule, read_rule
from rx_tools.checks.deciding.source import Source
from rx_tools.checks.decision import ABSENT, judged_gates, recompute, says_the_same
from rx_tools.checks.kinds import Kind, kind_of
from rx_tools.errors import DocumentError, ExitCode, IntegrityError, UnverifiedError, worst
from rx_tools.evidence.observations import ObservationFile, read_observation_file
from rx_tools.evidence.retained import retained_evidence
from rx_tools.evidence.run_dir import open_run_dir
from rx_tools.evidence.strict_json import read_document
from rx_tools.evidence.wanted import read_as
from rx_tools.model.json import JsonObject, as_object
from rx_tools.model.record import Record
from rx_tools.model.spec import Spec

BY_VERDICT = {
    "supported": ExitCode.OK,
    "refuted": ExitCode.REFUTED,
    "inconclusive": ExitCode.INCONCLUSIVE,
}
BEYOND_THE_ROWS = ("completed arms", "deviations", "selection", "gates")
MALFORMED = frozenset({Row.RULE, Row.SOURCE, Row.ROWS})
INCOMPLETE = frozenset({Row.ARMS, Row.MISSING, Row.GATES})


@dataclass(frozen=True)
class Answer:
    """A decision with what it was made from."""

    decision: Decision
    rule: FrozenRule | None
    assumptions: tuple[str, ...]
    observations: dict[str, Any]
    record: dict[str, Any] | None = None
    not_looked_at: tuple[str, ...] = ()

    def exit_code(self, *, by_verdict: bool) -> ExitCode:
        """0 for a decision on complete evidence; by its verdict where that was asked for."""
        codes = {code_of(issue.name, issue.row) for issue in self.decision.issues}
        codes.discard(ExitCode.OK)
        if not codes and self.record is not None and not self.record["agrees"]:
            codes.add(ExitCode.FINDINGS)
        if by_verdict and codes <= {ExitCode.INADMISSIBLE}:
            verdict = BY_VERDICT[self.decision.verdict]
            return ExitCode.INADMISSIBLE if codes else verdict
        plain = {ExitCode.FINDINGS if code is ExitCode.INADMISSIBLE else code for code in codes}
        return worst(plain or {ExitCode.OK})

    def descriptive(self) -> dict[str, Any]:
        """Figures that decide nothing."""
        alpha = self.rule.alpha if self.rule else 0.0
        return {
            criterion.id: {
                "without_seed": [
                    {"seed": left.seed, "mean": left.mean, "low": left.low, "high": left.high}
                    for left in leave_one_out(criterion, alpha)
                ],
                "turning_margins": [criterion.low, criterion.high],
            }
            for criterion in self.decision.criteria
        }


def code_of(name: str, row: Row) -> ExitCode:
    """What one issue means for the exit code; a breach of the selection is marked as such."""
    if name in ABSENT or row in INCOMPLETE:
        return ExitCode.UNVERIFIED
    if row in MALFORMED:
        return ExitCode.FINDINGS
    return ExitCode.INADMISSIBLE if row is Row.SELECTION else ExitCode.OK


def answer_of(decision: Decision, rule: object, file: dict[str, Any]) -> Answer:
    """The answer around a decision."""
    frozen, _ = read_rule(rule)
    assumptions = as_object(as_object(rule).get("assumptions"))
    stated = tuple(name for name, holds in assumptions.items() if holds is True)
    return Answer(decision, frozen, stated, file)


def alone(answer: Answer) -> Answer:
    """An answer from rule and rows alone, which says what it could not heed."""
    return replace(answer, not_looked_at=BEYOND_THE_ROWS)


def file_entry(file: ObservationFile) -> dict[str, Any]:
    """The rows' file as the JSON answer names it."""
    return {"name": file.name, "bytes": file.size, "sha256": file.sha256}


def source_of(file: ObservationFile) -> Source:
    """Rows that were handed over, or why they cannot serve."""
    return (None if file.issues else file.rows), file.issues


def from_rule(rule: Path, observations: Path) -> Answer:
    """A bare rule over rows."""
    document = read_document(rule).value
    inner = as_object(document).get("decision_rule")
    if isinstance(inner, Mapping):
        document = inner
    kind = kind_of(document)
    if kind is not Kind.UNKNOWN:
        hint = "--rule takes a decision_rule, or a document that holds one"
        raise DocumentError(f"is a {kind}, not a decision rule", where=str(rule), hint=hint)
    file = read_observation_file(observations)
    rows, issues = source_of(file)
    decision = decide(document, rows, circumstances=Circumstances(source_issues=issues))
    return alone(answer_of(decision, document, file_entry(file)))


def plan_for(spec: Path, plan: Path) -> JsonObject:
    """The frozen plan of a spec; a document that is none, or another spec's, is refused."""
    frozen = as_object(read_as(plan, Kind.PLAN).value)
    if not isinstance(frozen.get("readings"), Mapping):
        raise DocumentError(
            "is no plan: it freezes no readings",
            where=str(plan),
            hint="`rx plan SPEC -o` writes one",
        )
    if frozen.get("spec_sha256") in (None, read_document(spec).sha256):
        return frozen
    raise IntegrityError("was frozen for another spec", where=str(plan), hint="freeze a new one")


def from_documents(
    spec: Path, observations: Path, record: Path | None, plan: Path | None, evidence: Path | None
) -> Answer:
    """A spec's rule over rows; with a record, under everything else that it states."""
    view = Spec.of(read_as(spec, Kind.SPEC).value)
    frozen = plan_for(spec, plan) if plan else None
    file = read_observation_file(observations)
    rule = view.raw.get("decision_rule")
    if record is None:
        rows, issues = source_of(file)
        given = Circumstances(source_issues=issues)
        reading = frozen_readings(view, frozen or {})
        decision = decide(rule, rows, reading=reading, circumstances=given)
        return alone(answer_of(decision, rule, file_entry(file)))
    document = as_object(read_as(record, Kind.RECORD).value)
    return with_record(view, document, evidence, frozen, file)


def with_record(
    spec: Spec,
    document: JsonObject,
    folder: Path | None,
    plan: JsonObject | None,
    file: ObservationFile | None,
) -> Answer:
    """The decision under a record's arms, deviations, selection and gates."""
    record, kept = Record.of(document), retained_evidence(document, folder)
    source = source_of(file) if file else None
    gates = judged_gates(spec, record, kept)
    made = recompute(spec, record, kept, gates, plan=plan, source=source).decision
    named = as_object(record.section("decision").get("observations_file"))
    answer = answer_of(
        made, spec.raw.get("decision_rule"), file_entry(file) if file else dict(named)
    )
    if record.verdict is None:
        return answer
    said: dict[str, Any] = {
        "verdict": record.verdict,
        "outcome_reason": record.outcome_reason,
        "agrees": says_the_same(record, made),
    }
    return replace(answer, record=said)


def from_run(path: Path | None) -> Answer:
    """The decision of a run directory, from its spec, plan, newest record and evidence."""
    run = open_run_dir(path)
    record = run.record()
    if not as_object(record.get("decision")):
        raise UnverifiedError(
            "the run has no observation rows yet",
            where=str(run.path),
            hint="rx run and rx train score the arms; rx status shows where the run stands",
        )
    return with_record(Spec.of(run.spec.value), record, run.evidence, run.plan.to_json(), None)

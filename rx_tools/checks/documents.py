"""Judging whole documents: shape first, then every rule of their kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rx_tools.checks.catalogue import RECORD_RULES, SPEC_RULES, judge_of
from rx_tools.checks.kinds import Kind
from rx_tools.checks.shape import judge_shape
from rx_tools.model.evidence import Evidence
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.model.spec import Spec

NO_SPEC = Spec.of({})
NO_RECORD = Record.of({})


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """What a spec and a record come to together: the gates' answers and all findings."""

    gates: Mapping[Gate, Result] = field(default_factory=dict)
    on_spec: tuple[Finding, ...] = ()
    on_record: tuple[Finding, ...] = ()


def judge_document(kind: Kind, value: object) -> tuple[Finding, ...]:
    """The findings on one document that stands alone."""
    if kind is Kind.UNKNOWN:
        return (unknown_kind(),)
    findings = judge_shape(value, kind, kind)
    if kind is Kind.SPEC:
        return findings + rules(SPEC_RULES, Spec.of(value), NO_RECORD)
    if kind is Kind.RECORD:
        return findings + rules(RECORD_RULES, NO_SPEC, Record.of(value))
    return findings


def judge_pair(spec_value: object, record_value: object, evidence: Evidence) -> PairAnswer:
    """A record against its spec: every rule, and every gate that applies."""
    from rx_tools.checks.validation import judge_all

    spec, record = Spec.of(spec_value), Record.of(record_value)
    gates = judge_all(spec, record, evidence)
    reasons = [finding for result in gates.values() for finding in result.reasons]
    on_spec = judge_document(Kind.SPEC, spec_value)
    on_record = judge_shape(record_value, Kind.RECORD, "record")
    on_record += rules(RECORD_RULES, spec, record)
    return PairAnswer(
        gates=gates,
        on_spec=unique([*on_spec, *(f for f in reasons if f.document == "spec")]),
        on_record=unique([*on_record, *(f for f in reasons if f.document != "spec")]),
    )


def rules(modules: Iterable[str], spec: Spec, record: Record) -> tuple[Finding, ...]:
    """The findings of several families of rules, in their order."""
    return tuple(
        finding
        for module in modules
        for finding in judge_of(module)(spec, record, Evidence()).reasons
    )


def unique(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, in order."""
    return tuple(dict.fromkeys(findings))


def unknown_kind() -> Finding:
    """Nothing can be said of a document of no known kind."""
    return Finding(
        "RX008",
        Level.UNVERIFIED,
        "neither a spec nor a record nor another document of the contract",
        hint="rx schema lists the documents that are judged",
        document="unknown",
    )


def status_of(findings: Iterable[Finding]) -> Status:
    """The status of a document: unreadable or misshapen is `invalid`, a broken rule `failed`."""
    levels = {(finding.level, finding.code < "RX1") for finding in findings}
    if (Level.ERROR, True) in levels:
        return Status.INVALID
    if (Level.ERROR, False) in levels:
        return Status.FAILED
    if any(level is Level.UNVERIFIED for level, _ in levels):
        return Status.UNVERIFIED
    return Status.PASSED

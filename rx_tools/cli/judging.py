"""From files to a report: read each strictly, tell its kind, judge it, place its findings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rx_tools.checks.documents import (
    PairAnswer,
    judge_document,
    judge_pair,
    status_of,
    unique,
)
from rx_tools.checks.kinds import Kind, kind_of
from rx_tools.checks.record_rules.updates import judge_updates
from rx_tools.errors import ExitCode, worst
from rx_tools.evidence.gather import Found, update_number
from rx_tools.evidence.ledger_rules import is_ledger, ledger_findings, line_of
from rx_tools.evidence.retained import require_folder, retained_evidence
from rx_tools.evidence.strict_json import Document, UnreadableError, read_bytes, read_document
from rx_tools.evidence.verify_feasibility import whole_plan
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Status
from rx_tools.planning.projected import projection_findings
from rx_tools.report.findings import FileReport, Placed, Report

ORIGINAL_SPEC = "original.spec.json"
"""In the run directory of a rehearsal: the spec that its derived one replaces."""


@dataclass(frozen=True, slots=True)
class Read:
    """A document that could be read, and its kind."""

    path: Path
    document: Document
    kind: Kind


@dataclass(slots=True)
class Reading:
    """What reading the files gave: documents, and reports on ledgers and unreadable files."""

    documents: list[Read] = field(default_factory=list)
    reported: dict[Path, FileReport] = field(default_factory=dict)
    order: list[Path] = field(default_factory=list)


def read_all(found: Iterable[Found]) -> Reading:
    """Read every file; one that was not asked for by name is left out if its kind is unknown."""
    reading = Reading()
    for item in found:
        if item.path.suffix == ".jsonl" and is_ledger_file(item.path):
            reading.reported[item.path] = ledger_report(item.path)
            reading.order.append(item.path)
            continue
        try:
            document = read_document(item.path)
        except UnreadableError as error:
            reading.reported[item.path] = unreadable(error)
            reading.order.append(item.path)
            continue
        kind = kind_of(document.value)
        if item.named or kind is not Kind.UNKNOWN:
            reading.documents.append(Read(item.path, document, kind))
            reading.order.append(item.path)
    return reading


def is_ledger_file(path: Path) -> bool:
    """Whether this is the ledger of a run; a file that cannot be read is none."""
    try:
        return is_ledger(read_bytes(path))
    except UnreadableError:
        return False


def ledger_report(path: Path) -> FileReport:
    """The report on a ledger; a broken chain is a breach of integrity."""
    findings = ledger_findings(read_bytes(path))
    placed = tuple(Placed.of(item, (line_of(item), int(line_of(item) > 0))) for item in findings)
    report = FileReport.of(str(path), Kind.LEDGER, status_of(findings), placed)
    if any(finding.code == "RX502" for finding in findings):
        return replace(report, exit_code=ExitCode.INTEGRITY)
    return report


def unreadable(error: UnreadableError) -> FileReport:
    """The report on a file that the strict reader refuses."""
    finding = Finding(error.code, Level.ERROR, error.what, "$", error.hint, "unknown")
    placed = (Placed.of(finding, (error.line, error.column)),)
    return FileReport(error.name, Kind.UNKNOWN, Status.INVALID, placed, error.exit_code)


def judge_files(found: Iterable[Found], evidence: Path | None, updates: bool) -> Report:
    """The report on all files; one spec and one record, or one run's updates, are a pair."""
    require_folder(evidence)
    reading = read_all(found)
    series = successive(reading.documents, updates)
    pair = paired(reading.documents, series)
    findings: dict[Path, tuple[Finding, ...]] = {}
    answer = PairAnswer()
    if pair:
        spec, record = pair
        kept = retained_evidence(record.document.value, evidence or beside(record))
        answer = judge_pair(spec.document.value, record.document.value, kept)
        beside_plan = projections(reading.documents, spec, record)
        on_record = unique([*answer.on_record, *beside_plan])
        findings = {spec.path: answer.on_spec, record.path: on_record}
    for read in reading.documents:
        if read.path not in findings:
            findings[read.path] = judge_document(read.kind, read.document.value)
    for path, more in update_findings(series):
        findings[path] = unique([*findings[path], *more])
    reports = {read.path: report_on(read, findings[read.path]) for read in reading.documents}
    reports |= reading.reported
    files = tuple(reports[path] for path in reading.order)
    codes = [file.exit_code for file in files]
    codes += [result.status.exit_code for result in answer.gates.values()]
    return Report(
        files=files,
        exit_code=worst(codes),
        validation=validation_of(answer) if pair else None,
        gates=answer.gates,
    )


def projections(documents: Iterable[Read], spec: Read, record: Read) -> Iterator[Finding]:
    """What the record projects otherwise than the frozen plan of this very spec."""
    section = Record.of(record.document.value).section("feasibility")
    for read in documents:
        plan = whole_plan(read.document.value) if read.kind is Kind.PLAN else None
        if plan and plan.spec_sha256 == spec.document.sha256:
            yield from projection_findings(section, plan, spec.document.value)


def report_on(read: Read, findings: Sequence[Finding]) -> FileReport:
    """Findings with their places in the text."""
    placed = tuple(Placed.of(item, read.document.position(item.json_path)) for item in findings)
    return FileReport.of(str(read.path), read.kind.value, status_of(findings), placed)


def successive(documents: Sequence[Read], all_records: bool) -> list[list[Read]]:
    """The updates of one run, in order: by their numbered names, or all records as given."""
    records = [read for read in documents if read.kind is Kind.RECORD]
    if all_records:
        return [records]
    folders: dict[Path, list[tuple[int, Read]]] = {}
    for read in records:
        number = update_number(read.path)
        if number is not None:
            folders.setdefault(read.path.parent, []).append((number, read))
    return [[read for _, read in sorted(group, key=lambda g: g[0])] for group in folders.values()]


def paired(documents: Sequence[Read], series: Sequence[Sequence[Read]]) -> tuple[Read, Read] | None:
    """The one spec and the one record, or the last update of the one run."""
    specs = [r for r in documents if r.kind is Kind.SPEC and r.path.name != ORIGINAL_SPEC]
    earlier = {id(read) for updates in series for read in updates[:-1]}
    records = [r for r in documents if r.kind is Kind.RECORD and id(r) not in earlier]
    same = {record.document.sha256 for record in records}
    if len(specs) == len(same) == 1:
        return specs[0], records[-1]
    return None


def beside(record: Read) -> Path | None:
    """The evidence folder of the run directory that an update lies in, if there is one."""
    folder = record.path.absolute().parent.parent / "evidence"
    return folder if update_number(record.path) is not None and folder.is_dir() else None


def update_findings(series: Sequence[Sequence[Read]]) -> Iterator[tuple[Path, tuple[Finding, ...]]]:
    """What each update breaks of the ones before it."""
    for updates in series:
        results = judge_updates([Record.of(read.document.value) for read in updates])
        for read, result in zip(updates, results, strict=True):
            yield read.path, result.reasons


def validation_of(answer: PairAnswer) -> Mapping[str, object]:
    """The answers that the exchange's server would give, under its names."""
    from rx_tools.checks.validation import ANSWERS

    return {name: answer.gates[gate].details for name, gate in ANSWERS.items()}

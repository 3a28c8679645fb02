"""The evidence level, gates: each judged again, and the decision taken again."""

from collections.abc import Iterator, Mapping

from rx_tools.checks.kinds import Kind
from rx_tools.checks.shape import judge_shape
from rx_tools.evidence.claim import Claim, beyond, contradicted, incomplete, verified
from rx_tools.evidence.contents import evidence_kinds, json_object
from rx_tools.evidence.digest import Files
from rx_tools.evidence.layout import (
    CLEARANCE_NAME,
    EVIDENCE,
    LEDGER,
    PLAN,
    RECORD,
    RUN,
    SPEC,
    UPDATES,
    in_evidence,
)
from rx_tools.evidence.timeline import Timeline
from rx_tools.model.evidence import Evidence, EvidenceFile, inline_evidence
from rx_tools.model.names import Gate
from rx_tools.model.record import Record
from rx_tools.model.result import Level, Result, Status

KINDS = {RUN: Kind.RUN, SPEC: Kind.SPEC, PLAN: Kind.PLAN, RECORD: Kind.RECORD}
CLAIMING = ("supported", "refuted")
CREDENTIAL_CODE = "RX386"


def verify_shapes(files: Files) -> Iterator[Claim]:
    """Every document against its schema; what a schema does not know is no contradiction."""
    kinds = {**KINDS, **{path: numbered_kind(path) for path in files if numbered_kind(path)}}
    for path, kind in kinds.items():
        findings = judge_shape(json_object(files, path), kind, kind)
        errors = [finding for finding in findings if finding.level is Level.ERROR]
        if errors:
            first = f"{errors[0].json_path}: {errors[0].message}"
            yield contradicted(path, f"{len(errors)} errors against its schema, first {first}")
    yield verified("schemas", f"{len(kinds)} documents were judged by theirs")


def numbered_kind(path: str) -> str:
    """The schema of an update or a clearance; empty for any other file."""
    if path.startswith(f"{UPDATES}/"):
        return Kind.RECORD
    return Kind.CLEARANCE if CLEARANCE_NAME.fullmatch(path) else ""


def verify_gates(
    results: Mapping[Gate, Result], record: Record, history: Timeline
) -> Iterator[Claim]:
    """Each gate as it was judged again; the bundle's own statements are only compared."""
    told = {str(data.get("gate")): data.get("status") for data in history.data("gate_judged")}
    for gate, result in results.items():
        secrets = [r.message for r in result.reasons if r.code == CREDENTIAL_CODE]
        yield from (contradicted("secrets", message) for message in secrets)
        yield gate_claim(gate, result, record, told.get(gate.value))


def retained(files: Files, record: Record) -> Evidence:
    """The evidence of a bundle, with the kinds that the record states; first the frozen plan."""
    kinds = evidence_kinds(record)
    names = [path.partition("/")[2] for path in files if path.startswith(f"{EVIDENCE}/")]
    found = {name: evidence_file(files, in_evidence(name), kinds.get(name, "")) for name in names}
    inline = {name: file for name, file in inline_evidence(record.raw).items() if name not in found}
    fixed = {path: evidence_file(files, path, "") for path in (PLAN, LEDGER)}
    return Evidence({**fixed, **inline, **found} | fixed)


def evidence_file(files: Files, path: str, kind: str) -> EvidenceFile:
    """A file of the bundle as a judge reads it."""
    data = files[path]
    name = path.rpartition("/")[2]
    return EvidenceFile(name, kind, files.sha256(path), len(data), lambda: data)


def gate_claim(gate: Gate, result: Result, record: Record, told: object) -> Claim:
    """A gate that opens is verified; one that does not must not stand behind a verdict."""
    subject, found = f"gate {gate.value}", answer_of(result)
    if result.status.opens:
        return verified(subject, found)
    claiming = record.verdict in CLAIMING
    if result.status in (Status.UNVERIFIED, Status.UNKNOWN):
        return (incomplete if claiming else beyond)(subject, found)
    if claiming or gate is Gate.DECISION:
        return contradicted(subject, found)
    if told == Status.PASSED.value and gate is not Gate.ACTIVATION:
        return contradicted(subject, f"passed in the ledger, but {found}")
    return verified(subject, f"{found}; the record claims no verdict")


def answer_of(result: Result) -> str:
    """The status, with the first reason that decided it."""
    deciding = [r for r in result.reasons if r.level in (Level.ERROR, Level.UNVERIFIED)]
    if result.status.opens or not deciding:
        return result.status.value
    return f"{result.status.value}: {deciding[0].message}"

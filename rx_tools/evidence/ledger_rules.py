"""The ledger of a run is whole: canonical lines, one chain, one run, time that goes forward.

**What.** Every line is canonical JSON with the seven members of a ledger line and a known event;
sequence numbers count up from 1; each line names the digest of the one before it; all lines belong
to one run; times never go backwards.

**Why.** Nearly every rule of the contract is about order: deviations before training, the evaluator
before scoring, the selection before the confirmation. The ledger is what proves the order, and only
as long as nobody can edit, remove or insert a line unnoticed.

**Fix.** A torn last line is what a crash leaves: the next `rx` command on the run sets it aside.
Other damage cannot be mended: restore the file from the run's own bundle, or run again.

**Source.** Exchange contract, sections 7 to 12: everything that must come before something else.
"""

from collections.abc import Iterator, Mapping

from rx_tools.checks.shape import judge_shape
from rx_tools.evidence.ledger_reading import Fault, LedgerFinding, judge_ledger
from rx_tools.evidence.strict_json import UnreadableError, parse_document
from rx_tools.model.json import as_object
from rx_tools.model.result import Finding, Level

CODES: Mapping[str, str] = {
    "RX501": "a line of the ledger is not canonical or lacks a member",
    "RX502": "the chain of the ledger is broken",
    "RX503": "the clock of the ledger ran backwards",
    "RX504": "the last line of the ledger is torn",
    "RX505": "the ledger holds no line",
    "RX506": "the ledger tells of an event that nobody knows",
}

JUDGED = {
    Fault.EMPTY: ("RX505", Level.UNVERIFIED),
    Fault.TORN: ("RX504", Level.WARNING),
    Fault.FORM: ("RX501", Level.ERROR),
    Fault.SHAPE: ("RX501", Level.ERROR),
    Fault.CLOCK: ("RX503", Level.WARNING),
}
"""Faults that break no chain; all others are `RX502`."""


def ledger_findings(content: bytes) -> tuple[Finding, ...]:
    """Every fault of a ledger; the path `$[4]` is the fifth line."""
    faults = [finding_of(fault) for fault in judge_ledger(content).findings]
    return tuple(sorted([*faults, *unknown_events(content)], key=line_of))


def finding_of(fault: LedgerFinding) -> Finding:
    """A fault with its code."""
    code, level = JUDGED.get(fault.fault, ("RX502", Level.ERROR))
    path = f"$[{fault.line - 1}]" if fault.line else "$"
    return Finding(code, level, f"{fault.fault}: {fault.message}", path, document="ledger")


def unknown_events(content: bytes) -> Iterator[Finding]:
    """Lines whose event the contract does not name."""
    for index, line in enumerate(content.split(b"\n")):
        try:
            value = parse_document(line, "ledger").value
        except UnreadableError:
            continue
        errors = judge_shape(value, "ledger-line", "ledger")
        if any(error.json_path == "$.event" for error in errors):
            message = f"{as_object(value).get('event')!r} is no event of a ledger"
            yield Finding("RX506", Level.ERROR, message, f"$[{index}]", document="ledger")


def is_ledger(content: bytes) -> bool:
    """Whether the first line has the members that only a ledger line has."""
    first = content.partition(b"\n")[0]
    return b'"prev":' in first and b'"seq":' in first and b'"event":' in first


def line_of(finding: Finding) -> int:
    """The 1-based line that a finding speaks of; 0 for the ledger as a whole."""
    index = finding.json_path.removeprefix("$[").removesuffix("]")
    return int(index) + 1 if index.isdigit() else 0

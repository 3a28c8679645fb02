"""Read a ledger with distrust: every line is checked against its own bytes and its predecessor."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from rx_tools.evidence.digest import ZEROS, read_file
from rx_tools.evidence.ledger_line import LedgerLine, ShapeError, parse
from rx_tools.model.names import Sha256


class Fault(StrEnum):
    """What can be wrong with a ledger. A torn tail is what a crash leaves, all else is damage."""

    EMPTY = "empty"
    TORN = "torn tail"
    FORM = "not a canonical line"
    SHAPE = "wrong members"
    SEQUENCE = "sequence broken"
    CHAIN = "chain broken"
    OTHER_RUN = "line of another run"
    CLOCK = "clock ran backwards"
    TRUNCATED = "truncated"
    REWRITTEN = "rewritten"


@dataclass(frozen=True, slots=True)
class LedgerFinding:
    """One fault, with the 1-based line that it was seen in (0: the ledger as a whole)."""

    fault: Fault
    line: int
    message: str

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{self.fault}: {self.message}"


@dataclass(frozen=True, slots=True)
class Head:
    """How long a ledger was when somebody looked, and the digest of its last line then."""

    count: int
    sha256: Sha256


@dataclass(frozen=True, slots=True)
class LedgerReading:
    """The readable lines, the bytes after the last newline, and everything that is wrong."""

    lines: Sequence[LedgerLine]
    torn: bytes
    findings: Sequence[LedgerFinding]

    @property
    def head(self) -> Head:
        """Count and digest of what was read."""
        return Head(len(self.lines), self.lines[-1].sha256 if self.lines else ZEROS)

    @property
    def damage(self) -> Sequence[LedgerFinding]:
        """The findings that no crash explains."""
        return [finding for finding in self.findings if finding.fault is not Fault.TORN]


def read_ledger(path: Path, *, run: str = "", head: Head | None = None) -> LedgerReading:
    """Read and check a ledger file; see `judge_ledger`. Raises only when it cannot be opened."""
    return judge_ledger(read_file(path), run=run, head=head)


def judge_ledger(content: bytes, *, run: str = "", head: Head | None = None) -> LedgerReading:
    """Check the bytes of a ledger.

    `run` is the expected run (by default that of the first line); `head` is what the ledger must
    at least contain: a chain cannot tell by itself that its end is missing.
    """
    *whole, torn = content.split(b"\n")
    findings: list[LedgerFinding] = []
    lines: list[LedgerLine] = []
    previous, latest = ZEROS, ""
    for number, raw in enumerate(whole, 1):
        digest = Sha256(sha256(raw).hexdigest())
        try:
            line = parse(raw, digest)
        except ValueError as error:
            fault = Fault.SHAPE if isinstance(error, ShapeError) else Fault.FORM
            findings.append(LedgerFinding(fault, number, str(error)))
            previous = digest
            continue
        run = run or line.run
        if not (line.seq == number and line.prev == previous and line.run == run):
            findings += misplaced(line, number, previous, run)
        if not line.time >= latest:
            message = f"{line.time} after {latest}"
            findings.append(LedgerFinding(Fault.CLOCK, number, message))
        lines.append(line)
        previous, latest = digest, line.time
    return LedgerReading(lines, torn, [*findings, *ending(lines, torn, head)])


def misplaced(line: LedgerLine, number: int, previous: Sha256, run: str) -> list[LedgerFinding]:
    """What is wrong with the place of a well-formed line."""
    findings = []
    if line.seq != number:
        message = f"carries sequence number {line.seq}"
        findings.append(LedgerFinding(Fault.SEQUENCE, number, message))
    if line.prev != previous:
        message = "does not follow the line before it (edited, removed, inserted or reordered)"
        findings.append(LedgerFinding(Fault.CHAIN, number, message))
    if line.run != run:
        message = f"belongs to run {line.run!a}, not {run!a}"
        findings.append(LedgerFinding(Fault.OTHER_RUN, number, message))
    return findings


def ending(lines: Sequence[LedgerLine], torn: bytes, head: Head | None) -> list[LedgerFinding]:
    """What is wrong with the end, or with the whole."""
    findings = []
    if torn:
        message = f"{len(torn)} bytes without a newline, never acknowledged"
        findings.append(LedgerFinding(Fault.TORN, 0, message))
    if not lines:
        findings.append(LedgerFinding(Fault.EMPTY, 0, "holds no line"))
    if head is None or head.count == 0:
        return findings
    if len(lines) < head.count:
        message = f"{len(lines)} lines where {head.count} were written"
        findings.append(LedgerFinding(Fault.TRUNCATED, 0, message))
    elif lines[head.count - 1].sha256 != head.sha256:
        message = f"is not the line that was number {head.count} when its digest was noted"
        findings.append(LedgerFinding(Fault.REWRITTEN, head.count, message))
    return findings

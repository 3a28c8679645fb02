"""Read a ledger with distrust: every line is checked against its own bytes and its predecessor.

A line is the canonical JSON of `seq`, `time`, `run`, `event`, `data`, `files` and `prev`, where
`prev` is the SHA-256 of the previous line's bytes without the newline (64 zeros at first).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from rx_tools.errors import IntegrityError
from rx_tools.evidence.digest import ZEROS, chunks_of
from rx_tools.model.names import Sha256

KEYS = ("data", "event", "files", "prev", "run", "seq", "time")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
HEX = re.compile(r"[0-9a-f]{64}")
EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
MAX_LINE = 1 << 20
DECODE = json.JSONDecoder().decode
ENCODE = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode


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


class Members(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What a line says, in canonical order."""

    data: dict[str, Any]
    event: str
    files: dict[str, str]
    prev: str
    run: str
    seq: int
    time: str


class LedgerLine(msgspec.Struct, frozen=True, gc=False):
    """One acknowledged event. `sha256` is the digest of this line's bytes without the newline."""

    data: Mapping[str, Any]
    event: str
    files: Mapping[str, Sha256]
    prev: Sha256
    run: str
    seq: int
    time: str
    sha256: Sha256

    @property
    def moment(self) -> datetime:
        """When the writer's clock says that it happened, in UTC."""
        return datetime.fromisoformat(self.time)


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
    return judge_ledger(b"".join(chunks_of(path)), run=run, head=head)


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


class ShapeError(ValueError):
    """A line is JSON, but not the JSON of a ledger line."""


QUICK_DECODE = msgspec.json.Decoder(Members).decode
QUICK_ENCODE = msgspec.json.Encoder(order="sorted").encode


def parse(raw: bytes, digest: Sha256) -> LedgerLine:
    """One line; `ValueError` when its bytes are not exactly what a writer would have written.

    Comparing with the canonical form catches duplicate keys, NaN, overflow, spaces and order.
    """
    members = quick(raw) or exact(raw)
    check_values(members)
    return LedgerLine(
        members.data,
        members.event,
        members.files,  # type: ignore[arg-type]
        Sha256(members.prev),
        members.run,
        members.seq,
        members.time,
        digest,
    )


def quick(raw: bytes) -> Members | None:
    """The members when a fast codec can tell that the bytes are canonical; else nothing."""
    if not raw.isascii() or b"\x7f" in raw:
        return None
    try:
        members = QUICK_DECODE(raw)
        same = QUICK_ENCODE(members) == raw and not is_spelled_otherwise(members.data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return members if same else None


def is_spelled_otherwise(data: dict[str, Any]) -> bool:
    """Whether a number inside may have an exponent, which the fast codec writes differently."""
    waiting: list[Any] = [*data.values()]
    for value in waiting:
        kind = type(value)
        if kind is str or kind is int:
            continue
        if kind is float and not (1e-4 <= abs(value) < 1e16 or value == 0):
            return True
        if kind is dict or kind is list:
            waiting.extend(value.values() if kind is dict else value)
    return False


def exact(raw: bytes) -> Members:
    """The members by the definition of the canonical form; `ValueError` says what is wrong."""
    if len(raw) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE} bytes")
    try:
        text = raw.decode("ascii")
        value = DECODE(text)
        canonical = ENCODE(value)
    except UnicodeDecodeError as error:
        raise ValueError("not ASCII") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not canonical == text:
        raise ValueError("the bytes are not the canonical form of their content")
    if not (isinstance(value, dict) and tuple(sorted(value)) == KEYS):
        raise ShapeError(f"expected exactly the members {', '.join(KEYS)}")
    check_kinds(value)
    return Members(**value)


def check_kinds(value: Mapping[str, Any]) -> None:
    """Raise `ShapeError` when a member is of a wrong kind."""
    if type(value["seq"]) is not int:
        raise ShapeError("seq is not an integer")
    if not (isinstance(value["data"], dict) and isinstance(value["files"], dict)):
        raise ShapeError("data and files are not both objects")
    texts = (*value["files"].values(), *(value[key] for key in ("event", "prev", "run", "time")))
    if not all(isinstance(text, str) for text in texts):
        raise ShapeError("event, prev, run, time and the members of files are not all strings")


def check_values(line: Members) -> None:
    """Raise `ShapeError` when a member of the right kind has an impossible value."""
    if not (TIME.fullmatch(line.time) and is_moment(line.time)):
        raise ShapeError("time is not a UTC time with microseconds")
    if not line.run:
        raise ShapeError("run is empty")
    if not EVENT.fullmatch(line.event):
        raise ShapeError("event is not a name")
    if not HEX.fullmatch(line.prev):
        raise ShapeError("prev is not a SHA-256")
    if not all(map(HEX.fullmatch, line.files.values())):
        raise ShapeError("files is not a map from names to SHA-256")


def is_moment(text: str) -> bool:
    """Whether the digits are a date and a time that exist."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


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


def time_text(moment: datetime) -> str:
    """A moment as the ledger writes it; a time without a zone is refused."""
    if moment.tzinfo is None:
        raise IntegrityError("the ledger's clock must say its time zone")
    text = moment.astimezone(UTC).isoformat(timespec="microseconds")
    return text.removesuffix("+00:00") + "Z"

"""One line of a ledger: canonical JSON, read exactly as it must have been written.

The members are `seq`, `time`, `run`, `event`, `data`, `files` and `prev`, where `prev` is the
SHA-256 of the previous line's bytes without the newline (64 zeros at first).
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from rx_tools.errors import IntegrityError
from rx_tools.model.names import Sha256

KEYS = ("data", "event", "files", "prev", "run", "seq", "time")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
HEX = re.compile(r"[0-9a-f]{64}")
EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
MAX_LINE = 1 << 24
DECODE = json.JSONDecoder().decode
ENCODE = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
).encode


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


class ShapeError(ValueError):
    """A line is JSON, but not the JSON of a ledger line."""


QUICK_DECODE = msgspec.json.Decoder(Members).decode
QUICK_ENCODE = msgspec.json.Encoder(order="sorted").encode


def parse(raw: bytes, digest: Sha256) -> LedgerLine:
    """One line; `ValueError` when its bytes are not exactly what a writer would have written.

    Comparing with the canonical form catches duplicate keys, NaN, overflow, spaces and order.
    """
    if len(raw) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE} bytes")
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


def time_text(moment: datetime) -> str:
    """A moment as the ledger writes it; a time without a zone is refused."""
    if moment.tzinfo is None:
        raise IntegrityError("the ledger's clock must say its time zone")
    text = moment.astimezone(UTC).isoformat(timespec="microseconds")
    return text.removesuffix("+00:00") + "Z"

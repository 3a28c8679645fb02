"""The append-only ledger of a run: what happened, in an order that nobody can rewrite unseen.

Each line is on the disk before `append` returns, so an act may follow its announcement. One
process holds a ledger at a time. What a crash left half-written is set aside, never repaired.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from rx_tools.errors import DiskError, DocumentError, IntegrityError
from rx_tools.evidence.canonical import compact
from rx_tools.evidence.digest import open_regular, sha256_of
from rx_tools.evidence.folders import sync_folder, try_lock, write_all
from rx_tools.evidence.ledger_line import LedgerLine, parse, time_text
from rx_tools.evidence.ledger_reading import (
    Fault,
    Head,
    LedgerFinding,
    LedgerReading,
    judge_ledger,
    read_ledger,
)
from rx_tools.evidence.secrets import redacted
from rx_tools.model.names import Sha256

__all__ = [
    "Fault",
    "Head",
    "Ledger",
    "LedgerFinding",
    "LedgerHeldError",
    "LedgerLine",
    "LedgerReading",
    "read_ledger",
]

Clock = Callable[[], datetime]
BEHIND = "clock_behind_seconds"
"""Added to the data of a line whose clock read earlier than the line before it."""


def utc_now() -> datetime:
    """The clock for everyone who has no other."""
    return datetime.now(UTC)


class LedgerHeldError(IntegrityError):
    """Another process holds the ledger; it may soon let go."""


class Ledger:
    """An open ledger, held exclusively; use `create` or `open`, and `close` or `with`."""

    def __init__(
        self, path: Path, run_id: str, clock: Clock, descriptor: int, lines: Sequence[LedgerLine]
    ) -> None:
        self.path, self.run_id, self.clock = path, run_id, clock
        self.torn: Path | None = None
        self._descriptor, self._lines, self._lock = descriptor, list(lines), Lock()
        self._size = os.fstat(descriptor).st_size

    @classmethod
    def create(cls, path: Path, run_id: str, clock: Clock = utc_now) -> Self:
        """Start an empty ledger. Raises `IntegrityError` when the file exists."""
        try:
            descriptor = os.open(path, FLAGS | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError as error:
            hint = "continue it instead, or choose another run directory"
            raise IntegrityError("there is a ledger already", where=str(path), hint=hint) from error
        hold(descriptor, path)
        sync_folder(path.parent)
        return cls(path, run_id, clock, descriptor, ())

    @classmethod
    def open(cls, path: Path, clock: Clock = utc_now, *, run_id: str = "") -> Self:
        """Continue a ledger after checking all of it.

        A torn last line is moved to `<name>.torn-<n>` (`torn` tells where). Raises
        `IntegrityError` when another process holds the ledger, when it is damaged, when it is
        not of `run_id`, or when it is empty and no `run_id` says whose it is.
        """
        descriptor = open_regular(path, FLAGS)
        hold(descriptor, path)
        try:
            content = path.read_bytes()
            reading = judge_ledger(content, run=run_id)
            refuse_damage(path, reading, run_id)
            torn = set_aside(path, descriptor, len(content), reading.torn) if reading.torn else None
        except BaseException:
            os.close(descriptor)
            raise
        run = run_id or reading.lines[0].run
        ledger = cls(path, run, clock, descriptor, reading.lines)
        ledger.torn = torn
        return ledger

    @property
    def lines(self) -> Sequence[LedgerLine]:
        """Every acknowledged line so far."""
        return tuple(self._lines)

    @property
    def head(self) -> Head:
        """What a record or run state notes, so that a later truncation shows."""
        return LedgerReading(self._lines, b"", ()).head

    def append(
        self, event: str, data: Mapping[str, Any], files: Mapping[str, Sha256] | None = None
    ) -> LedgerLine:
        """Write one event; when this returns, it has reached the disk.

        Raises `DocumentError` for data that JSON cannot say exactly, `IntegrityError` when
        somebody else changed the file, `DiskError` when the disk gives out (the line is then
        not in the ledger).
        """
        with self._lock:
            self.refuse_strangers()
            raw = compact(self.next_line(event, redacted(dict(data)), dict(files or {})))
            try:
                line = parse(raw, sha256_of(raw))
            except ValueError as error:
                raise DocumentError(f"cannot be a line of the ledger: {error}") from error
            self.write(raw + b"\n")
            self._lines.append(line)
            return line

    def next_line(
        self, event: str, data: dict[str, Any], files: Mapping[str, Sha256]
    ) -> dict[str, Any]:
        """The members of the next line. A clock that was set back is noted, time stands still."""
        moment = self.clock()
        time, latest = time_text(moment), self._lines[-1].time if self._lines else ""
        if not time >= latest:
            behind = datetime.fromisoformat(latest) - moment
            time, data = latest, {**data, BEHIND: behind.total_seconds()}
        head = self.head
        return {
            "seq": head.count + 1,
            "time": time,
            "run": self.run_id,
            "event": event,
            "data": data,
            "files": files,
            "prev": head.sha256,
        }

    def refuse_strangers(self) -> None:
        """Raise `IntegrityError` unless the file is the one that this object wrote last."""
        mine = os.fstat(self._descriptor)
        there = self.path.stat() if self.path.exists() else None
        same = there is not None and (there.st_ino, there.st_dev) == (mine.st_ino, mine.st_dev)
        if same and mine.st_size == self._size:
            return
        raise IntegrityError("was changed by somebody else", where=str(self.path))

    def write(self, raw: bytes) -> None:
        """Append bytes and sync; on failure the file is as before."""
        try:
            write_all(self._descriptor, raw)
            os.fdatasync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            reason = f"cannot append: {error.strerror}; the ledger is as it was"
            raise DiskError(reason, where=str(self.path)) from error
        self._size += len(raw)

    def close(self) -> None:
        """Let go of the ledger; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def hold(descriptor: int, path: Path) -> None:
    """Take the ledger for this process, or say that somebody has it."""
    if try_lock(descriptor):
        return
    os.close(descriptor)
    hint = "wait for it, or look with `rx status`"
    raise LedgerHeldError("another process is writing this ledger", where=str(path), hint=hint)


def refuse_damage(path: Path, reading: LedgerReading, run_id: str) -> None:
    """Raise `IntegrityError` with the first thing that no crash explains."""
    damage = [f for f in reading.damage if not (f.fault is Fault.EMPTY and run_id)]
    if damage:
        raise IntegrityError(f"the ledger is damaged: {damage[0]}", where=str(path))


def set_aside(path: Path, descriptor: int, size: int, torn: bytes) -> Path:
    """Move a torn tail out of the ledger: first a synced copy under a new name, then the cut."""
    number = 1
    while (place := path.with_name(f"{path.name}.torn-{number}")).exists():
        number += 1
    with place.open("xb") as file:
        file.write(torn)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)
    os.ftruncate(descriptor, size - len(torn))
    os.fsync(descriptor)
    return place

"""What happens while a run goes on, for people (a live table) and for programs (JSON lines)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from rx_tools import __version__

SCHEMA = "urn:rx:schema:event:1"


@dataclass(frozen=True, slots=True)
class ArmOpened:
    """An arm begins or goes on at `step` of `steps`; `restores` counts the restores so far."""

    arm: str
    step: int
    steps: int
    restores: int


@dataclass(frozen=True, slots=True)
class StepDone:
    """One acknowledged update: 0-based `step`, `train_nll` in nats per token."""

    arm: str
    step: int
    steps: int
    train_nll: float
    learning_rate: float
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ArmClosed:
    """An arm ended: `finished`, `stopped` or `failed`, after `step` updates."""

    arm: str
    step: int
    how: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """`done` of `total` items of an arm are scored."""

    arm: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pause of `seconds`, and why."""

    arm: str
    seconds: float
    reason: str


Event: TypeAlias = ArmOpened | StepDone | ArmClosed | Scored | Waiting
Tell: TypeAlias = Callable[[Event], None]


def nobody(event: Event) -> None:
    """Tells nobody."""


def everybody(listeners: Sequence[Tell]) -> Tell:
    """Tells every listener in turn."""

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


def to_json(event: Event) -> dict[str, Any]:
    """An event as a document: its kind, then its members."""
    told = {"schema": SCHEMA, "rx_version": __version__, "event": type(event).__name__}
    return told | asdict(event)


class EventFile:
    """Appends one JSON line per event; each line is complete when it appears."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="ascii")
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        """Write one event."""
        line = json.dumps(to_json(event), sort_keys=True, allow_nan=False)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

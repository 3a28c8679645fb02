"""What an arm is to the runner, and what it works with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Protocol

from rx_tools.errors import RxError
from rx_tools.evidence.ledger import Ledger
from rx_tools.model.names import ArmName, CheckpointUri, Sha256
from rx_tools.runner.arms.events import Tell, nobody
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.service import Datum, ModelConfig, TrainingService
from rx_tools.runner.wire.capacity import CapacityPolicy


class Batches(Protocol):
    """The training data, in the order that every arm of a seed shares."""

    def train_batch(self, seed: int, step: int) -> Sequence[Datum]:
        """The batch of the 0-based `step`; the same each time it is asked."""
        ...


class HygieneError(RxError):
    """A step did not do what it reports or what was asked; the arm stops with its evidence."""


@dataclass(frozen=True, slots=True)
class ArmJob:
    """One arm to train.

    `config.seed` creates the start from a seed; `initial` is a saved initialization that is loaded
    instead. `learning_rate` maps the 0-based step to its rate. `clearance` is the digest of the
    clearance that was spent on this arm.
    """

    name: ArmName
    seed: int
    steps: int
    config: ModelConfig
    learning_rate: Callable[[int], float]
    initial: CheckpointUri | None = None
    clearance: str = ""
    checkpoint_every: int = 20
    ahead: int = 4


@dataclass(frozen=True, slots=True)
class ArmOutcome:
    """A finished arm: every planned step acknowledged and the final checkpoint confirmed."""

    name: ArmName
    steps: int
    uri: CheckpointUri
    restores: int
    files: Mapping[str, Sha256]


class PairedBatches:
    """The batch digests of every seed and step, compared across arms while they run."""

    def __init__(self, known: Mapping[tuple[int, int], Sha256] | None = None) -> None:
        self._known = dict(known or {})
        self._lock = Lock()

    def compare(self, seed: int, step: int, digest: Sha256) -> None:
        """Raise `HygieneError` when another arm of the seed had other token ids at this step."""
        with self._lock:
            first = self._known.setdefault((seed, step), digest)
        if first != digest:
            raise HygieneError(
                f"batch {step} of seed {seed} is {digest[:12]}…, "
                f"but another arm of the seed trained on {first[:12]}…",
                hint="the data changed between two arms; start a new run",
            )


@dataclass(frozen=True)
class Workshop:
    """What every arm of one run works with. Safe to share between threads."""

    service: TrainingService
    ledger: Ledger
    batches: Batches
    evidence: Path
    work: Path
    capacity: CapacityPolicy
    stop: StopSignal = field(default_factory=StopSignal)
    paired: PairedBatches = field(default_factory=PairedBatches)
    tell: Tell = nobody
    timer: Callable[[], float] = monotonic

    def note(self, event: str, data: Mapping[str, Any], **files: Sha256) -> None:
        """Write an event to the ledger; it is on the disk when this returns."""
        self.ledger.append(event, data, files)

"""A small run on the in-memory service: data, a ledger and one arm."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rx_tools.evidence.ledger import Ledger
from rx_tools.model.names import ArmName
from rx_tools.runner.arms.arm import ArmJob, Workshop
from rx_tools.runner.arms.resume import steps_completed
from rx_tools.runner.arms.stop import StopSignal
from rx_tools.runner.service import Datum, ModelConfig, OptimizerConfig, TrainingService
from rx_tools.runner.wire.capacity import CapacityPolicy

ADAMW = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})


class Batches:
    """Random token ids, fixed by seed and step."""

    def __init__(self, vocabulary: int = 32, size: int = 4) -> None:
        self._vocabulary, self._size = vocabulary, size

    def train_batch(self, seed: int, step: int) -> Sequence[Datum]:
        random = np.random.default_rng([seed, step])
        return [self._datum(random) for _ in range(self._size)]

    def _datum(self, random: np.random.Generator) -> Datum:
        length = int(random.integers(4, 12))
        ids = random.integers(0, self._vocabulary, size=length + 1, dtype=np.int64)
        return Datum(ids[:-1], ids[1:], (np.arange(length) >= 2).astype(np.float32))


class FakeTime:
    """A clock that only sleeping moves; it remembers every sleep."""

    def __init__(self) -> None:
        self.now, self.sleeps = 0.0, []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def make_shop(
    folder: Path, service: TrainingService, *, time: FakeTime | None = None, **changes: Any
) -> Workshop:
    """A workshop in `folder`; an existing ledger is continued."""
    path = folder / "ledger.jsonl"
    ledger = Ledger.open(path, run_id="run1") if path.exists() else Ledger.create(path, "run1")
    for name in ("evidence", "work"):
        (folder / name).mkdir(exist_ok=True)
    time = time or FakeTime()
    policy = CapacityPolicy(time.clock, time.sleep, lambda: steps_completed(ledger.lines))
    parts: dict[str, Any] = {
        "service": service,
        "ledger": ledger,
        "batches": Batches(),
        "evidence": folder / "evidence",
        "work": folder / "work",
        "capacity": policy,
        "stop": StopSignal(),
    }
    return Workshop(**{**parts, **changes})


def make_job(name: str = "adamw-s0", **changes: Any) -> ArmJob:
    """Ten steps with a checkpoint every four."""
    parts: dict[str, Any] = {
        "name": ArmName(name),
        "seed": 7,
        "steps": 10,
        "config": ModelConfig("tiny", 4, ADAMW, seed=7),
        "learning_rate": lambda step: 1e-2 * (1 - step / 10),
        "clearance": "c" * 64,
        "checkpoint_every": 4,
        "ahead": 2,
    }
    return ArmJob(**{**parts, **changes})

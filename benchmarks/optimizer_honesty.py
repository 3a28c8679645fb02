"""Claim: every optimizer fault is contradicted, an honest service proven, noise no alarm.

    python benchmarks/optimizer_honesty.py [runs, 20 by default] [cases, by number, all by default]

Each run takes another batch and another seed on a fresh embedded service. Prints, per service
and optimizer, how many of the runs came out how, and the median seconds of a run.
"""

import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from rx_tools.local.launcher import launch
from rx_tools.runner.probes.suite import Questions, run_optimizer_probes
from rx_tools.runner.service import Datum, ModelConfig, OptimizerConfig
from rx_tools.runner.wire.tinker_service import TinkerService

DIMUON = OptimizerConfig("dimuon", {"beta1": 0.9, "grad_clip_norm": 0.0})
ADAMW = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})

CASES = (
    ("honest", (), None, DIMUON, "proven"),
    ("honest", (), None, ADAMW, "proven"),
    ("drop-optimizer", ("drop-optimizer",), None, DIMUON, "contradicted"),
    ("drop-optimizer, stock", ("drop-optimizer",), "stock", DIMUON, "contradicted"),
    ("cold-restore", ("cold-restore",), None, DIMUON, "contradicted"),
    ("cold-restore", ("cold-restore",), None, ADAMW, "contradicted"),
    ("cold-restore, stock", ("cold-restore",), "stock", DIMUON, "contradicted"),
    ("adamw-on-restore", ("adamw-on-restore",), None, DIMUON, "contradicted"),
    ("adamw-on-restore, stock", ("adamw-on-restore",), "stock", DIMUON, "contradicted"),
    ("drift", ("drift",), None, DIMUON, "no alarm"),
    ("drift, stock", ("drift",), "stock", DIMUON, "no alarm"),
    ("drift:0.01, stock", ("drift:0.01",), "stock", ADAMW, "no alarm"),
)


def batch_of(seed: int) -> list[Datum]:
    random = np.random.default_rng(seed)
    return [
        Datum(
            random.integers(0, 2000, 40),
            random.integers(0, 2000, 40),
            np.ones(40, np.float32),
        )
        for _ in range(4)
    ]


def outcome(
    faults: tuple[str, ...], like: str | None, optimizer: OptimizerConfig, seed: int
) -> str:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with launch(place / "store", faults=faults, like=like) as running:
            service = TinkerService(running.base_url, running.api_key)
            config = ModelConfig("rx/tiny-qwen3", 32, optimizer, seed=seed)
            rate = 1e-3 if optimizer is DIMUON else 1e-4
            report = run_optimizer_probes(
                service, config, batch_of(seed), Questions(rate), place / "weights"
            )
            service.close()
    return report.outcome.value


def main(runs: int, numbers: list[int]) -> None:
    for number in numbers or range(len(CASES)):
        name, faults, like, optimizer, wanted = CASES[number]
        seconds, counts = [], Counter()
        for seed in range(runs):
            started = time.perf_counter()
            counts[outcome(faults, like, optimizer, seed)] += 1
            seconds.append(time.perf_counter() - started)
        right = runs - counts["contradicted"] if wanted == "no alarm" else counts[wanted]
        print(
            f"{name:<26}{optimizer.type:<8} {wanted}: {right} of {runs}"
            f"  ({dict(counts)}, median {statistics.median(seconds):.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, [int(word) for word in sys.argv[2:]])

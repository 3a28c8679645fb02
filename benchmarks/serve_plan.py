"""A whole plan's worth of training and scoring: `exp_71911f0fb9` within 4 minutes.

840 steps (six arms of 40, six of 100) of 32 examples of about 64 tokens at rank 32, half of them
dimuon, then 500 examples scored once per arm. Run with `python -m benchmarks.serve_plan [share]`;
a share of 0.1 runs a tenth and scales up. The processor time of the service is told beside the
wall time: on a busy machine the two differ.
"""

import sys
from time import perf_counter
from typing import Any

import psutil
from tinker import types

from benchmarks.serving import RANK, datums, lengths, report, serving

ARMS = [(kind, steps) for steps in (40, 100) for kind in ("adamw", "dimuon") for _ in range(3)]


def arm(client: Any, kind: str, steps: int, scored: list[list[types.Datum]]) -> None:
    """Train one arm, save it, and score it."""
    config = types.DimuonOptimizerConfig() if kind == "dimuon" else None
    params = (
        types.DimuonParams(learning_rate=1e-3)
        if kind == "dimuon"
        else types.AdamParams(learning_rate=1e-4, eps=1e-8)
    )
    model = client.create_lora_training_client(
        "rx/tiny-qwen3", rank=RANK, seed=0, optimizer=config
    ).result(timeout=60)
    waiting = []
    for step in range(steps):
        batch = datums(step, lengths(step))
        waiting.append((model.forward_backward(batch, "cross_entropy"), model.optim_step(params)))
        if len(waiting) > 2:
            waiting.pop(0)[1].result(timeout=60)
    for _, stepped in waiting:
        stepped.result(timeout=60)
    model.save_state("end").result(timeout=60)
    for future in [model.forward(batch, "cross_entropy") for batch in scored]:
        future.result(timeout=60)


if __name__ == "__main__":
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    scored = [datums(seed, lengths(seed)) for seed in range(round(16 * share))]
    with serving() as (running, client):
        begin = perf_counter()
        for kind, steps in ARMS:
            arm(client, kind, max(1, round(steps * share)), scored)
        spent = (perf_counter() - begin) / share
        times = psutil.Process(running.process.pid).cpu_times()
    report("processor time of the service", (times.user + times.system) / share, 240, "s")
    report("840 steps and scoring", spent, 240, "s")

"""Packed against unpacked: a batch scores as its examples do one by one."""

import numpy as np

from rx_tools.runner.probes.bench import NOISE_FACTOR, RESOLUTION, Bench, counted, noise, rms
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven

PROBE = "packed"
ROUNDING = 1e-4
"""Root mean square in nats that another order of float32 operations explains."""

LEAKING = 0.05
"""Beyond this, examples of one batch see each other, or lose tokens."""


def probe(bench: Bench) -> ProbeResult:
    """Score the batch as a whole, then example by example."""
    with bench.model() as model:
        bench.step(model, 1e-3)
        whole = bench.score(model, 2)
        singles = [model.forward([datum]) for datum in bench.batch]
        apart = [
            counted([datum], single.result())
            for datum, single in zip(bench.batch, singles, strict=True)
        ]
    distance, floor = rms(np.concatenate(apart) - whole[0]), noise(whole)
    figures = {"distance_rms": distance, "noise_rms": floor, "examples": len(bench.batch)}
    limit = NOISE_FACTOR * floor + RESOLUTION + ROUNDING
    if len(bench.batch) < 2:
        return unproven(PROBE, "one example cannot be packed: use two or more", figures)
    if distance <= limit:
        return proven(PROBE, "the batch scores as its examples do", figures)
    if distance > max(LEAKING, limit):
        return contradicted(PROBE, f"packing moves the logprobs by {distance:.3g} nats", figures)
    return unproven(PROBE, f"packing moves the logprobs by {distance:.3g} nats", figures)

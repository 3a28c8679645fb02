"""Null step: an update with learning rate 0 leaves the logprobs at the noise floor.

A server that ignores the optimizer it was asked for applies AdamW at its default rate 1e-4
instead, which moves them. How far that would be is measured on a second throw-away model: where
noise would hide it, nothing is proven.
"""

from rx_tools.runner.probes.bench import Bench, Movement, movement
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven
from rx_tools.runner.service import OptimizerConfig, RefusedError

PROBE = "null_step"
FALLBACK = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})
FALLBACK_RATE = 1e-4


def probe(bench: Bench) -> ProbeResult:
    """One step of rate 0 by the optimizer under test; one of 1e-4 by AdamW beside it."""
    null = moved_by(bench, bench.config.optimizer, 0.0)
    try:
        fallback = moved_by(bench, FALLBACK, FALLBACK_RATE)
    except RefusedError:
        fallback = None
    return judged(null, fallback)


def moved_by(bench: Bench, optimizer: OptimizerConfig, learning_rate: float) -> Movement:
    """How far one step moves the logprobs of a fresh model."""
    with bench.model(optimizer) as model:
        before = bench.score(model)
        bench.step(model, learning_rate, optimizer=optimizer)
        return movement(before, bench.score(model))


def judged(null: Movement, fallback: Movement | None) -> ProbeResult:
    """The movement of the null step against noise, and against what a fallback would do."""
    figures = {
        "moved_rms": null.distance,
        "noise_rms": null.noise,
        "limit_rms": null.limit,
        "adamw_1e-4_would_move_rms": fallback.distance if fallback else None,
    }
    if null.distance > null.limit:
        return contradicted(
            PROBE,
            f"a step with learning rate 0 moved the logprobs by {null.distance:.3g} nats,"
            f" noise explains {null.limit:.3g}: another optimizer or rate was applied",
            figures,
        )
    if fallback is None:
        return unproven(PROBE, "no AdamW model to measure what a fallback would do", figures)
    seen = fallback.well_seen and fallback.distance >= 3 * null.limit
    if null.within_noise and seen:
        return proven(PROBE, "a step with learning rate 0 changes nothing", figures)
    return unproven(PROBE, "noise would hide AdamW at its default rate: use more tokens", figures)

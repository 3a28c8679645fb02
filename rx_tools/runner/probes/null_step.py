"""Null step: an update with learning rate 0 leaves the logprobs at the noise floor.

A server that ignores the optimizer it was asked for applies AdamW at its default rate 1e-4
instead, which moves them. How that would look is measured on a second throw-away model: where
noise would hide it, nothing is proven.
"""

from rx_tools.runner.probes.bench import Bench, movement
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven
from rx_tools.runner.probes.shares import Sides, direction, share
from rx_tools.runner.service import OptimizerConfig, RefusedError

PROBE = "null_step"
FALLBACK = OptimizerConfig("adamw", {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8})
FALLBACK_RATE = 1e-4
ENOUGH = 0.3
"""A share of the fallback's movement that no honest null step shows."""


def probe(bench: Bench) -> ProbeResult:
    """One step of rate 0 by the optimizer under test; one of 1e-4 by AdamW beside it."""
    null = moved_by(bench, bench.config.optimizer, 0.0)
    try:
        fallback = moved_by(bench, FALLBACK, FALLBACK_RATE)
    except RefusedError:
        fallback = None
    return judged(null, fallback)


def moved_by(bench: Bench, optimizer: OptimizerConfig, learning_rate: float) -> Sides:
    """The logprobs of a fresh model on both sides of one step."""
    with bench.model(optimizer) as model:
        before = bench.score(model)
        bench.step(model, learning_rate, optimizer=optimizer)
        return Sides(before, bench.score(model))


def judged(null: Sides, fallback: Sides | None) -> ProbeResult:
    """The movement of the null step against noise, and against what a fallback would do."""
    moved = movement(null.before, null.after)
    figures = {"moved_rms": moved.distance, "noise_rms": moved.noise, "limit_rms": moved.limit}
    if moved.distance > moved.limit:
        reason = (
            f"a step with learning rate 0 moved the logprobs by {moved.distance:.3g} nats,"
            f" noise explains {moved.limit:.3g}: another optimizer or rate was applied"
        )
        return contradicted(PROBE, reason, figures)
    if fallback is None:
        return unproven(PROBE, "no AdamW model to measure what a fallback would do", figures)
    expected = movement(fallback.before, fallback.after)
    held = share(null, direction(fallback))
    figures["adamw_1e-4_would_move_rms"] = expected.distance
    more = {**figures, "of_that_movement": held.figures()}
    if held.at_least(ENOUGH):
        reason = f"a step with learning rate 0 moved the logprobs {held.value:.0%} as AdamW would"
        return contradicted(PROBE, reason, more)
    seen = expected.well_seen and expected.distance >= 3 * moved.limit
    if moved.within_noise and (seen or held.is_none):
        return proven(PROBE, "a step with learning rate 0 changes nothing", more)
    return unproven(PROBE, "noise would hide AdamW at its default rate: use more tokens", more)

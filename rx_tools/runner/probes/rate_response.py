"""Learning-rate response: a rate and its tenfold move the logprobs differently.

A server that ignores the rate it is sent moves them alike.
"""

import math

from rx_tools.runner.probes.bench import Bench, Movement, movement
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven

PROBE = "rate_response"
RESPONDS = 3.0
"""A tenfold rate that moves the logprobs at least this much farther is applied."""

IGNORES = 1.5
"""Below this ratio the rate is ignored; between the two nothing is said."""


def probe(bench: Bench, learning_rate: float) -> ProbeResult:
    """One first step at the rate, and one at its tenfold on another throw-away model."""
    low = moved_by(bench, learning_rate)
    high = moved_by(bench, 10 * learning_rate)
    return judged(low, high, learning_rate)


def moved_by(bench: Bench, learning_rate: float) -> Movement:
    """How far one first step moves the logprobs."""
    with bench.model() as model:
        before = bench.score(model)
        bench.step(model, learning_rate)
        return movement(before, bench.score(model))


def judged(low: Movement, high: Movement, learning_rate: float) -> ProbeResult:
    """The two movements against each other and against the noise."""
    ratio = high.distance / max(low.distance, low.limit)
    figures = {
        "learning_rates": [learning_rate, 10 * learning_rate],
        "moved_rms": [low.distance, high.distance],
        "noise_rms": max(low.noise, high.noise),
        "ratio": ratio if math.isfinite(ratio) else None,
    }
    if not (low.well_seen or high.well_seen):
        return unproven(PROBE, "noise hides both steps: use more tokens", figures)
    if ratio >= RESPONDS:
        return proven(PROBE, f"the tenfold rate moves the logprobs {ratio:.3g} times", figures)
    if ratio <= IGNORES and low.well_seen:
        return contradicted(
            PROBE, f"the tenfold rate moves the logprobs only {ratio:.3g} times", figures
        )
    return unproven(PROBE, f"a ratio of {ratio:.3g} tells nothing", figures)

"""Learning-rate response: a rate and its tenfold move the logprobs differently.

A server that ignores the rate it is sent moves them alike.
"""

from typing import Any

from rx_tools.runner.probes.bench import Bench, movement
from rx_tools.runner.probes.null_step import moved_by
from rx_tools.runner.probes.result import ProbeResult, contradicted, proven, unproven
from rx_tools.runner.probes.shares import Sides, direction, share

PROBE = "rate_response"
RESPONDS = 3.0
"""A tenfold rate that moves the logprobs at least this much farther is applied."""

IGNORES = 1.5
"""Below this ratio the rate is ignored; between the two nothing is said."""

SMALL_SHARE, LARGE_SHARE = 0.35, 0.6
"""The share of the tenfold rate's movement in the rate's own: a tenth is right, one is wrong."""


def probe(bench: Bench, learning_rate: float) -> ProbeResult:
    """One first step at the rate, and one at its tenfold on another throw-away model."""
    optimizer = bench.config.optimizer
    low = moved_by(bench, optimizer, learning_rate)
    high = moved_by(bench, optimizer, 10 * learning_rate)
    return judged(low, high, learning_rate)


def judged(low: Sides, high: Sides, learning_rate: float) -> ProbeResult:
    """The two movements against each other and against the noise."""
    small, large = movement(low.before, low.after), movement(high.before, high.after)
    held = share(low, direction(high))
    ratio = large.distance / max(small.distance, small.limit)
    figures: dict[str, Any] = {
        "learning_rates": [learning_rate, 10 * learning_rate],
        "moved_rms": [small.distance, large.distance],
        "noise_rms": max(small.noise, large.noise),
        "ratio": ratio,
        "of_the_large_movement": held.figures(),
    }
    if large.well_seen and ratio >= RESPONDS:
        return proven(PROBE, f"the tenfold rate moves the logprobs {ratio:.3g} times", figures)
    if small.well_seen and ratio <= IGNORES:
        reason = f"the tenfold rate moves the logprobs only {ratio:.3g} times"
        return contradicted(PROBE, reason, figures)
    if held.sharp and abs(held.value) + held.limit <= SMALL_SHARE:
        return proven(PROBE, f"the rate moves the logprobs {held.value:.0%} as far", figures)
    if held.sharp and held.value - held.limit >= LARGE_SHARE:
        return contradicted(PROBE, f"the rate moves them {held.value:.0%} as far", figures)
    return unproven(PROBE, "noise hides the difference of the rates: use more tokens", figures)

"""Losses that are a sum over positions of a function of that position's log-probability."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Inputs = Mapping[str, Array]
Settings = Mapping[str, float]


class Scored(NamedTuple):
    """Loss per position, and its derivative by the position's log-probability."""

    loss: Array
    slope: Array


def cross_entropy(logprobs: Array, inputs: Inputs, settings: Settings) -> Scored:
    """`-weight · logprob`, summed."""
    del settings
    return Scored(-inputs["weights"] * logprobs, -inputs["weights"])


def importance_sampling(logprobs: Array, inputs: Inputs, settings: Settings) -> Scored:
    """`-exp(logprob - sampled logprob) · advantage`, summed."""
    del settings
    gain = np.exp(logprobs - inputs["logprobs"]) * inputs["advantages"]
    return Scored(-gain, -gain)


def ppo(logprobs: Array, inputs: Inputs, settings: Settings) -> Scored:
    """The clipped surrogate: the smaller of the plain and the clipped gain, summed."""
    low = np.float32(settings.get("clip_low_threshold", 0.8))
    high = np.float32(settings.get("clip_high_threshold", 1.2))
    ratio, advantages = np.exp(logprobs - inputs["logprobs"]), inputs["advantages"]
    plain, clipped = ratio * advantages, np.clip(ratio, low, high) * advantages
    slope = np.where(plain <= clipped, -plain, np.float32(0))
    return Scored(-np.minimum(plain, clipped), slope)


Loss = Callable[[Array, Inputs, Settings], Scored]


class LossRule(NamedTuple):
    """A loss, the inputs it needs beside `target_tokens`, and the settings it knows."""

    apply: Loss
    needs: tuple[str, ...]
    settings: tuple[str, ...] = ()


LOSSES: dict[str, LossRule] = {
    "cross_entropy": LossRule(cross_entropy, ("weights",)),
    "importance_sampling": LossRule(importance_sampling, ("logprobs", "advantages")),
    "ppo": LossRule(ppo, ("logprobs", "advantages"), ("clip_low_threshold", "clip_high_threshold")),
}

"""From hidden states to log-probabilities of targets and back, block by block.

The full matrix of logits never exists: a block is scored, its gradient is taken at once, and only
positions whose slope is not zero are sent back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.losses import Scored

Array = NDArray[np.float32]
BLOCK_LOGITS = 1 << 20
Score = Callable[[Array, Mapping[str, Array]], Scored]


@dataclass(frozen=True, slots=True)
class Positions:
    """Real positions: hidden states (n × hidden), targets (n), and the loss's inputs (n each)."""

    hidden: Array
    targets: NDArray[np.int64]
    inputs: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Log-probabilities and losses per position; the gradients are None in a forward pass."""

    logprobs: Array
    losses: Array
    d_hidden: Array | None
    d_weight: Array | None


def unembed(weight: Array, positions: Positions, score: Score, *, backward: bool) -> Unembedded:
    """Score every position; with `backward`, also the gradients of the summed loss."""
    count = len(positions.targets)
    logprobs, losses = np.empty(count, np.float32), np.empty(count, np.float32)
    d_hidden = np.zeros_like(positions.hidden) if backward else None
    d_weight = np.zeros_like(weight) if backward else None
    block = max(64, BLOCK_LOGITS // len(weight))
    for start in range(0, count, block):
        part = slice(start, start + block)
        hidden, targets = positions.hidden[part], positions.targets[part]
        odds, total, logprobs[part] = _odds(hidden @ weight.T, targets)
        inputs = {name: values[part] for name, values in positions.inputs.items()}
        losses[part], slope = score(logprobs[part], inputs)
        if d_hidden is None or d_weight is None:
            continue
        active = np.flatnonzero(slope)
        gradient = _logit_gradient(odds, total, slope, targets, active)
        d_weight += gradient.T @ hidden[active]
        d_hidden[start + active] = gradient @ weight
    return Unembedded(logprobs, losses, d_hidden, d_weight)


def _odds(logits: Array, targets: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Unnormalized probabilities (in place of the logits), their sums, the targets' logprobs."""
    logits -= logits.max(axis=1, keepdims=True)
    chosen = logits[np.arange(len(targets)), targets].copy()
    np.exp(logits, out=logits)
    total = logits.sum(axis=1)
    return logits, total, chosen - np.log(total)


def _logit_gradient(
    odds: Array, total: Array, slope: Array, targets: NDArray[np.int64],
    active: NDArray[np.intp],
) -> Array:  # fmt: skip
    gradient = odds[active]
    gradient *= (-slope[active] / total[active])[:, None]
    gradient[np.arange(len(active)), targets[active]] += slope[active]
    return gradient

"""What every step must show before it counts. Conditions are written so that a NaN fails."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.arms.arm import HygieneError
from rx_tools.runner.service import (
    Datum,
    ForwardResult,
    LoadResponse,
    ModelInfo,
    OptimizerConfig,
    StepResult,
)

RELATIVE = 1e-6
"""Servers may hold hyperparameters in single precision."""


def train_nll(batch: Sequence[Datum], result: ForwardResult) -> tuple[float, int]:
    """Token mean of the batch's NLL in nats over weights > 0, and the number of those tokens.

    Raises `HygieneError` for a log-probability that is missing or no finite number.
    """
    if len(result.logprobs) != len(batch):
        raise HygieneError(f"{len(result.logprobs)} answers to a batch of {len(batch)}")
    total, tokens = 0.0, 0
    for datum, logprobs in zip(batch, result.logprobs, strict=True):
        if len(logprobs) != len(datum.weights):
            raise HygieneError(f"{len(logprobs)} log-probabilities for {len(datum.weights)} tokens")
        counted = logprobs[datum.weights > 0].astype(np.float64)
        total, tokens = total - float(counted.sum()), tokens + len(counted)
    if tokens == 0:
        raise HygieneError("a batch without a single counted token has no loss")
    if not math.isfinite(total):
        raise HygieneError("a counted log-probability is no finite number")
    return total / tokens, tokens


def check_step(result: StepResult) -> None:
    """Raise `HygieneError` unless the update was applied to a finite gradient, as far as told."""
    if result.successful is False:
        raise HygieneError(
            "the server skipped the update (update_successful = 0)",
            hint="a gradient that is no finite number is skipped without an error",
        )
    if result.grad_norm is not None and not math.isfinite(result.grad_norm):
        raise HygieneError(f"the gradient norm is {result.grad_norm}")


def check_optimizer(wanted: OptimizerConfig, info: ModelInfo) -> None:
    """Raise `HygieneError` when the server names another optimizer type than was asked for."""
    for source, said in (("echo", info.optimizer), ("observation", _observed(info))):
        if said is not None and said.get("type") != wanted.type:
            raise HygieneError(
                f"the server's {source} says optimizer {said.get('type')!r}, not {wanted.type!r}",
                hint="an optimizer that is not known may be replaced without a word",
            )


def check_loaded(answer: LoadResponse, uri: CheckpointUri) -> None:
    """Raise `HygieneError` when the server names another state than the one that was asked for."""
    if answer.loaded is not None and answer.loaded != uri:
        raise HygieneError(f"the server loaded {answer.loaded}, not {uri}")


def check_count(info: ModelInfo, steps: int) -> None:
    """Raise `HygieneError` when the observed optimizer made another number of updates."""
    made = (info.observation or {}).get("step")
    if made is not None and made != steps:
        raise HygieneError(f"the server's optimizer made {made} updates where {steps} are known")


def check_executed(info: ModelInfo, wanted: OptimizerConfig, learning_rate: float) -> None:
    """Raise `HygieneError` when the observed last step used other hyperparameters."""
    last = (info.observation or {}).get("last")
    if not last:
        return
    for name, value in {**wanted.parameters, "learning_rate": learning_rate}.items():
        used = last.get(name)
        if used is not None and not math.isclose(used, value, rel_tol=RELATIVE):
            raise HygieneError(f"the last step ran with {name} = {used}, not {value}")


def _observed(info: ModelInfo) -> Mapping[str, Any] | None:
    observation = info.observation or {}
    optimizer = observation.get("optimizer")
    return optimizer if isinstance(optimizer, Mapping) else None

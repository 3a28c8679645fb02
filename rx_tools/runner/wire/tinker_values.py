"""The port's values in the SDK's types, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tinker
from tinker.types.optimizer import (
    AdamOptimizerConfig,
    AdamParams,
    DimuonOptimizerConfig,
    DimuonParams,
    OptimizerConfigBase,
    OptimParamsBase,
)
from tinker.types.optimizer import OptimizerConfig as SdkOptimizerConfig

from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    Datum,
    ForwardResult,
    LoadResponse,
    OptimizerConfig,
    StepResult,
)


def load_response(path: str | None) -> LoadResponse:
    """The path that the server says it loaded."""
    return LoadResponse(CheckpointUri(path) if path else None)


def optimizer_config(optimizer: OptimizerConfig) -> SdkOptimizerConfig:
    """What a creation asks for."""
    if optimizer.type == "adamw":
        return AdamOptimizerConfig()
    if optimizer.type == "dimuon":
        return DimuonOptimizerConfig()
    return OptimizerConfigBase(type=optimizer.type)


def step_params(optimizer: OptimizerConfig, learning_rate: float) -> AdamParams | OptimParamsBase:
    """One step's hyperparameters; an unknown name is refused by the SDK's types."""
    named: dict[str, Any] = {"learning_rate": learning_rate, **optimizer.parameters}
    if optimizer.type == "adamw":
        return AdamParams(**named)
    if optimizer.type == "dimuon":
        return DimuonParams(**named)
    return OptimParamsBase(type=optimizer.type, **named)


def sdk_batch(batch: Sequence[Datum]) -> list[tinker.Datum]:
    """Datums for `cross_entropy`."""
    return [
        tinker.Datum(
            model_input=tinker.ModelInput.from_ints(datum.tokens.tolist()),
            loss_fn_inputs={
                "target_tokens": tinker.TensorData.from_numpy(datum.targets),
                "weights": tinker.TensorData.from_numpy(datum.weights),
            },
        )
        for datum in batch
    ]


def forward_result(output: tinker.ForwardBackwardOutput) -> ForwardResult:
    """Log-probabilities per datum, and the server's metrics."""
    logprobs = (record["logprobs"].to_numpy() for record in output.loss_fn_outputs)
    return ForwardResult(
        tuple(np.asarray(array, dtype=np.float32).reshape(-1) for array in logprobs),
        dict(output.metrics or {}),
    )


def step_result(output: tinker.types.OptimStepResponse) -> StepResult:
    """One step's outcome; the reductions in metric names are dropped."""
    metrics = dict(output.metrics or {})
    successful = _metric(metrics, "update_successful")
    return StepResult(
        successful=None if successful is None else successful == 1.0,
        grad_norm=_metric(metrics, "grad_norm"),
        metrics=metrics,
    )


def _metric(metrics: Mapping[str, float], name: str) -> float | None:
    """The value of `name`, whatever reduction the server appended to it."""
    found = [value for key, value in metrics.items() if key.partition(":")[0] == name]
    return found[0] if found else None

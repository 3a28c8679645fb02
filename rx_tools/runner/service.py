"""The service port: what the runner needs of a training service, and nothing more.

Every implementation keeps the promises in these docstrings; one contract test runs them all.
Operations of one model run strictly in the order of the calls. Errors are `ServiceError`s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rx_tools.errors import ServiceError
from rx_tools.model.names import CheckpointUri

T_co = TypeVar("T_co", covariant=True)


class RefusedError(ServiceError):
    """The service understood the request and said no (category `user`): it will say so again."""


class NotOfferedError(RefusedError):
    """The service does not offer this call at all (weight export, an optimizer, a seed)."""


class UnreachableError(ServiceError):
    """Nobody answers at the address, or no longer."""


class NoAnswerError(ServiceError):
    """The service lives, but an operation did not finish within its wall-clock limit."""


class CapacityError(ServiceError):
    """The service is busy: 429, 503, or `trainer capacity exhausted`. Worth another try later."""


class ModelLostError(ServiceError):
    """The live model is gone (410); its last checkpoint still loads."""


class SessionClosedError(ServiceError):
    """The session was closed or evicted (409); a new one is needed."""


@dataclass(frozen=True, slots=True)
class Datum:
    """One example: `tokens`, `targets`, `weights` of one length N−1, already shifted.

    `weights` is a mask in [0, 1]; only `weights > 0` counts.
    """

    tokens: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class OptimizerConfig:
    """What an arm asks for: a type, and the parameters of every step but the learning rate.

    `type` is `adamw` or `dimuon` (others travel through the SDK's base types). Parameters of
    adamw: beta1, beta2, eps, weight_decay, grad_clip_norm; of dimuon: beta1, grad_clip_norm.
    """

    type: str
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What to create: base model, LoRA rank and flags, optimizer, and an optional seed."""

    base_model: str
    rank: int
    optimizer: OptimizerConfig
    seed: int | None = None
    train_attn: bool = True
    train_mlp: bool = True
    train_unembed: bool = True


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the server says of a live model; `optimizer` is None where it gave no echo.

    `observation` is the embedded service's minimal observation of the concrete optimizer
    (type, step, last hyperparameters, state digest), None where the service has none.
    """

    base_model: str
    rank: int
    tokenizer: str
    optimizer: Mapping[str, Any] | None
    observation: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """`logprobs[i]` is float32 of the i-th datum's length; `metrics` are the server's own."""

    logprobs: tuple[NDArray[np.float32], ...]
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StepResult:
    """One optimizer step. `successful` is None where the server reports nothing."""

    successful: bool | None
    grad_norm: float | None
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LoadResponse:
    """What the server answered to a load: the path it loaded, None if it named none."""

    loaded: CheckpointUri | None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Base models on offer and whatever else the service tells of itself."""

    models: tuple[str, ...]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServiceIdentity:
    """Who served: host name, SDK version, capabilities digest; the embedded one its revision.

    Never a port, a key or a header.
    """

    host: str
    sdk_version: str
    capabilities_sha256: str
    embedded_revision: str | None


class Pending(Protocol, Generic[T_co]):
    """A submitted operation. `result` waits at most its own wall-clock limit, then raises."""

    def result(self) -> T_co:
        """The outcome; the same each time it is asked."""
        ...


class Model(Protocol):
    """One live LoRA model with its optimizer."""

    @property
    def model_id(self) -> str:
        """The server's name of the live model."""
        ...

    def info(self) -> ModelInfo:
        """A fresh answer of the server, never a cached one."""
        ...

    def forward(self, batch: Sequence[Datum]) -> Pending[ForwardResult]:
        """Score without changing anything."""
        ...

    def forward_backward(self, batch: Sequence[Datum]) -> Pending[ForwardResult]:
        """Accumulate the gradient of the summed cross entropy."""
        ...

    def optim_step(self, optimizer: OptimizerConfig, learning_rate: float) -> Pending[StepResult]:
        """Apply one update and clear the gradient."""
        ...

    def save_state(self, name: str, *, overwrite: bool = False) -> Pending[CheckpointUri]:
        """Save weights and optimizer.

        `RefusedError` when `name` exists and `overwrite` is false.
        """
        ...

    def load_state(self, uri: CheckpointUri, *, with_optimizer: bool) -> Pending[LoadResponse]:
        """Load into this model; the response is the server's own."""
        ...

    def download_weights(self, name: str, folder: Path) -> Mapping[str, Path]:
        """Export the adapter (PEFT layout) into `folder`: file name → path.

        Raises `NotOfferedError` where the service has no export; the model must then be
        treated as stalled, because a stock service's request sequence may hang.
        """
        ...

    def release(self) -> None:
        """Give the slot back; the model answers nothing afterwards. Safe to call twice."""
        ...


class TrainingService(Protocol):
    """A service that trains LoRA adapters."""

    def capabilities(self) -> Capabilities:
        """Ask what is served; raises `ServiceError` within seconds when nobody answers."""
        ...

    def identity(self) -> ServiceIdentity:
        """Who this is, for the clearance."""
        ...

    def create(self, config: ModelConfig) -> Model:
        """A fresh model; `NotOfferedError` names a refused seed, rank or optimizer."""
        ...

    def create_from_state(
        self, config: ModelConfig, uri: CheckpointUri, *, with_optimizer: bool
    ) -> tuple[Model, LoadResponse]:
        """A new model that starts from a saved state, with the server's load response."""
        ...

    def close(self) -> None:
        """Finish the session; never hangs on a dead server."""
        ...

"""An in-memory training service that keeps the port's promises, for tests without a server.

Its model is one table of logits, token → target, trained by AdamW; everything is float64 and
deterministic, so a replay must be equal bit for bit. `hook(operation, model)` may raise a
`ServiceError` that the operation then answers.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rx_tools.errors import ServiceError
from rx_tools.model.names import CheckpointUri
from rx_tools.runner.service import (
    Capabilities,
    Datum,
    ForwardResult,
    LoadResponse,
    ModelConfig,
    ModelInfo,
    ModelLostError,
    NotOfferedError,
    OptimizerConfig,
    RefusedError,
    ServiceIdentity,
    StepResult,
)

VOCABULARY = 32
Hook = Callable[[str, "MemoryModel"], None]


@dataclass(frozen=True)
class State:
    """Weights and optimizer of a model."""

    optimizer: str
    rank: int
    table: np.ndarray
    first: np.ndarray
    second: np.ndarray
    step: int = 0

    def digest(self) -> str:
        content = b"".join(part.tobytes() for part in (self.table, self.first, self.second))
        return hashlib.sha256(content + str(self.step).encode()).hexdigest()


class Done:
    """A pending operation whose outcome is known."""

    def __init__(self, outcome: Any, error: ServiceError | None = None) -> None:
        self._outcome, self._error = outcome, error

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._outcome


class MemoryService:
    """Keeps checkpoints for as long as it lives; models die when `lose_models` is called."""

    def __init__(self, hook: Hook = lambda operation, model: None, *, seeds: bool = True) -> None:
        self.hook, self.seeds = hook, seeds
        self.checkpoints: dict[str, State] = {}
        self.models: list[MemoryModel] = []
        self.closed = False

    def capabilities(self) -> Capabilities:
        return Capabilities(("tiny",), {"supported_models": [{"model_name": "tiny"}]})

    def identity(self) -> ServiceIdentity:
        return ServiceIdentity("memory", "none", hashlib.sha256(b"{}").hexdigest(), "memory")

    def create(self, config: ModelConfig) -> "MemoryModel":
        if config.base_model != "tiny":
            raise NotOfferedError(f"{config.base_model} is not served")
        if config.seed is not None and not self.seeds:
            raise NotOfferedError("a LoRA seed is not supported")
        if config.optimizer.type not in ("adamw", "dimuon"):
            raise NotOfferedError(f"unknown optimizer {config.optimizer.type}")
        random = np.random.default_rng(config.seed)
        table = random.normal(scale=0.1, size=(VOCABULARY, VOCABULARY))
        zero = np.zeros_like(table)
        return self.adopt(State(config.optimizer.type, config.rank, table, zero, zero))

    def create_from_state(
        self, config: ModelConfig, uri: CheckpointUri, *, with_optimizer: bool
    ) -> tuple["MemoryModel", LoadResponse]:
        state = self.saved(uri)
        if not with_optimizer:
            state = cold(state, config.optimizer.type)
        return self.adopt(state), LoadResponse(uri)

    def saved(self, uri: CheckpointUri) -> State:
        if uri not in self.checkpoints:
            raise RefusedError(f"no checkpoint {uri}")
        return self.checkpoints[uri]

    def adopt(self, state: State) -> "MemoryModel":
        model = MemoryModel(self, f"m{len(self.models)}", state)
        self.models.append(model)
        self.hook("create", model)
        return model

    def lose_models(self) -> None:
        for model in self.models:
            model.alive = False

    def close(self) -> None:
        self.closed = True
        self.lose_models()


class MemoryModel:
    def __init__(self, service: MemoryService, name: str, state: State) -> None:
        self._service, self._name, self.state = service, name, state
        self._gradient: np.ndarray | None = None
        self._last: Mapping[str, float] = {}
        self.alive, self.released = True, False

    @property
    def model_id(self) -> str:
        return self._name

    def info(self) -> ModelInfo:
        self._check_alive()
        state = self.state
        optimizer = {"type": state.optimizer}
        observation = {
            "model_id": self._name,
            "optimizer": optimizer,
            "step": state.step,
            "last": self._last,
            "state_sha256": state.digest(),
        }
        return ModelInfo("tiny", state.rank, "tiny", optimizer, observation)

    def forward(self, batch: Sequence[Datum]) -> Done:
        return self._do("forward", lambda: ForwardResult(self._scores(batch), {}))

    def forward_backward(self, batch: Sequence[Datum]) -> Done:
        def work() -> ForwardResult:
            scores = self._scores(batch)
            gradient = np.zeros_like(self.state.table)
            for datum in batch:
                probabilities = softmax(self.state.table[datum.tokens])
                probabilities[np.arange(len(datum.targets)), datum.targets] -= 1
                np.add.at(gradient, datum.tokens, probabilities * datum.weights[:, None])
            self._gradient = gradient if self._gradient is None else self._gradient + gradient
            return ForwardResult(scores, {})

        return self._do("forward_backward", work)

    def optim_step(self, optimizer: OptimizerConfig, learning_rate: float) -> Done:
        def work() -> StepResult:
            if self._gradient is None:
                raise RefusedError("there is no gradient")
            gradient, self._gradient = self._gradient, None
            self.state = adamw(self.state, gradient, optimizer.parameters, learning_rate)
            self._last = {**optimizer.parameters, "learning_rate": learning_rate}
            norm = float(np.linalg.norm(gradient))
            return StepResult(True, norm, {"update_successful:mean": 1.0, "grad_norm:mean": norm})

        return self._do("optim_step", work)

    def save_state(self, name: str, *, overwrite: bool = False) -> Done:
        def work() -> CheckpointUri:
            uri = CheckpointUri(f"memory://{self._name}/{name}")
            if uri in self._service.checkpoints and not overwrite:
                raise RefusedError(f"{uri} exists")
            self._service.checkpoints[uri] = self.state
            return uri

        return self._do("save_state", work)

    def load_state(self, uri: CheckpointUri, *, with_optimizer: bool) -> Done:
        def work() -> LoadResponse:
            state = self._service.saved(uri)
            self.state = state if with_optimizer else cold(state, self.state.optimizer)
            return LoadResponse(uri)

        return self._do("load_state", work)

    def download_weights(self, name: str, folder: Path) -> Mapping[str, Path]:
        self._check_alive()
        folder.mkdir(parents=True, exist_ok=True)
        data = self.state.table.astype("<f4").tobytes()
        entry = {"dtype": "F32", "shape": [VOCABULARY, VOCABULARY], "data_offsets": [0, len(data)]}
        header = json.dumps({"table": entry}).encode()
        path = folder / "adapter_model.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + data)
        return {path.name: path}

    def release(self) -> None:
        self.alive, self.released = False, True

    def _do(self, operation: str, work: Callable[[], Any]) -> Done:
        try:
            self._service.hook(operation, self)
            self._check_alive()
            return Done(work())
        except ServiceError as error:
            return Done(None, error)

    def _check_alive(self) -> None:
        if not self.alive:
            raise ModelLostError(f"{self._name} is gone")

    def _scores(self, batch: Sequence[Datum]) -> tuple[np.ndarray, ...]:
        def one(datum: Datum) -> np.ndarray:
            chances = softmax(self.state.table[datum.tokens])
            chosen = chances[np.arange(len(datum.targets)), datum.targets]
            return np.log(chosen).astype(np.float32)

        return tuple(one(datum) for datum in batch)


def cold(state: State, optimizer: str) -> State:
    zero = np.zeros_like(state.table)
    return replace(state, optimizer=optimizer, first=zero, second=zero, step=0)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def adamw(state: State, gradient: np.ndarray, given: Mapping[str, float], rate: float) -> State:
    beta1, beta2 = given.get("beta1", 0.9), given.get("beta2", 0.95)
    step = state.step + 1
    first = beta1 * state.first + (1 - beta1) * gradient
    second = beta2 * state.second + (1 - beta2) * gradient**2
    direction = (first / (1 - beta1**step)) / (np.sqrt(second / (1 - beta2**step)) + 1e-8)
    return replace(
        state, table=state.table - rate * direction, first=first, second=second, step=step
    )

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

<<<<<<< HEAD
    scale: float = 1.0
    override: dict = field(default_factory=dict)
    table: tuple = TABLE
    fresh_state: bool = False
    skips: bool = False
=======
    optimizer: str
    rank: int
    table: np.ndarray
    first: np.ndarray
    second: np.ndarray
    step: int = 0

    def digest(self) -> str:
        content = b"".join(part.tobytes() for part in (self.table, self.first, self.second))
        return hashlib.sha256(content + str(self.step).encode()).hexdigest()
>>>>>>> f3120de (Two services in memory, each under its own name; test modules with names of their own)


class Done:
    """A pending operation whose outcome is known."""

    def __init__(self, outcome: Any, error: ServiceError | None = None) -> None:
        self._outcome, self._error = outcome, error

<<<<<<< HEAD
def matrix_sign(gradient, table):
    left, singular, right = np.linalg.svd(gradient.astype(np.float64), full_matrices=False)
    values = singular / (SAFETY * np.linalg.norm(singular) + EPSILON)
    for row in table:
        a, b, c = safe(row, SAFETY)
        values = a * values + b * values**3 + c * values**5
    return (left * values @ right).astype(np.float32)


class Pending:
    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value


class MemoryModel:
    def __init__(self, service, config, number):
        self.service, self.config, self.model_id = service, config, f"model-{number}"
        random = np.random.default_rng(number if config.seed is None else config.seed)
        shape = (config.rank, WIDTH)
        self.weights = {
            A: rounded(random.standard_normal(shape) / 5, service.stored),
            B: np.zeros((VOCABULARY, config.rank), np.float32),
        }
        self.state, self.steps = {}, 0
        self.gradient = {name: np.zeros_like(values) for name, values in self.weights.items()}

    def info(self):
        kind = {"type": self.config.optimizer.type}
        return ModelInfo(self.config.base_model, self.config.rank, "", kind, None)

    def scored(self, batch):
        parts = [(self.service.embedding[d.tokens], d) for d in batch]
        for inputs, datum in parts:
            hidden = inputs @ self.weights[A].T
            logits = inputs @ self.service.base.T + hidden @ self.weights[B].T
            shifted = logits - logits.max(axis=1, keepdims=True)
            yield inputs, hidden, shifted - np.log(np.exp(shifted).sum(1, keepdims=True)), datum

    def forward(self, batch):
        picked = tuple(
            logp[np.arange(len(d.targets)), d.targets].astype(np.float32)
            for _, _, logp, d in self.scored(batch)
        )
        return Pending(ForwardResult(picked, {}))

    def forward_backward(self, batch):
        for inputs, hidden, logp, datum in self.scored(batch):
            error = np.exp(logp)
            error[np.arange(len(datum.targets)), datum.targets] -= 1
            error *= datum.weights[:, None]
            self.gradient[B] = self.gradient[B] + error.T @ hidden
            self.gradient[A] = self.gradient[A] + (error @ self.weights[B]).T @ inputs
        return self.forward(batch)

    def optim_step(self, optimizer, learning_rate):
        faults = self.service.faults
        if faults.skips:
            return Pending(StepResult(False, None, {}))
        self.steps += 1
        sent = {**optimizer.parameters, **faults.override}
        for name, gradient in self.gradient.items():
            moved = self.adamw if optimizer.type == "adamw" else self.dimuon
            update = faults.scale * learning_rate * moved(name, gradient, sent)
            self.weights[name] = rounded(self.weights[name] - update, self.service.stored)
            self.gradient[name] = np.zeros_like(gradient)
        return Pending(StepResult(True, None, {}))

    def adamw(self, name, gradient, sent):
        first, second = self.state.get(name, (0.0, 0.0))
        first = sent["beta1"] * first + (1 - sent["beta1"]) * gradient
        second = sent["beta2"] * second + (1 - sent["beta2"]) * gradient**2
        self.state[name] = (first, second)
        corrected = first / (1 - sent["beta1"] ** self.steps)
        return corrected / (np.sqrt(second / (1 - sent["beta2"] ** self.steps)) + sent["eps"])

    def dimuon(self, name, gradient, sent):
        (old,) = self.state.get(name, (gradient,))
        average = sent["beta1"] * old + (1 - sent["beta1"]) * gradient
        self.state[name] = (average,)
        return (min(gradient.shape) / 32) ** 0.175 * matrix_sign(average, self.service.faults.table)

    def save_state(self, name, *, overwrite=False):
        uri = f"memory://{self.model_id}/{name}"
        self.service.saved[uri] = (dict(self.weights), dict(self.state), self.steps)
        return Pending(uri)

    def load_state(self, uri, *, with_optimizer):
        self.weights, state, steps = (
            dict(v) if isinstance(v, dict) else v for v in self.service.saved[uri]
        )
        if with_optimizer and not self.service.faults.fresh_state:
            self.state, self.steps = state, steps
        return Pending(LoadResponse(uri))

    def download_weights(self, name, folder):
        if not self.service.exports:
            raise NotOfferedError("no export")
        header, body = {}, b""
        for key, values in sorted(self.weights.items()):
            raw = values.astype("<f4")
            data = (raw.view("<u4") >> 16).astype("<u2") if self.service.stored == "BF16" else raw
            header[key] = {
                "dtype": self.service.stored,
                "shape": list(values.shape),
                "data_offsets": [len(body), len(body) + data.nbytes],
            }
            body += data.tobytes()
        text = json.dumps(header).encode()
        path = Path(folder) / "adapter_model.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text + body)
        return {path.name: path}

    def release(self):
        self.service.live.discard(self.model_id)
=======
    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._outcome
>>>>>>> f3120de (Two services in memory, each under its own name; test modules with names of their own)


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

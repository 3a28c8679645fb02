"""A training service in memory with one LoRA pair, whose optimizers can be wrong on purpose.

It keeps the promises of the port. Its matrix sign goes through an SVD and the scalar polynomials,
another way than the reference's; its AdamW works in single precision.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rx_tools.numerics.polar_express import EPSILON, SAFETY, TABLE, safe
from rx_tools.runner.service import (
    ForwardResult,
    LoadResponse,
    ModelInfo,
    NotOfferedError,
    RefusedError,
    ServiceIdentity,
    StepResult,
)

VOCABULARY, WIDTH = 48, 24
A, B = "layer.lora_A.weight", "layer.lora_B.weight"


@dataclass(frozen=True)
class Faults:
    """What is wrong: a factor on every update, or hyperparameters other than those sent."""

    scale: float = 1.0
    override: dict = field(default_factory=dict)
    table: tuple = TABLE
    fresh_state: bool = False
    skips: bool = False


def rounded(values, stored):
    """float32 values as the stored type holds them."""
    values = values.astype(np.float32)
    if stored == "F32":
        return values
    bits = values.view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


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


class MemoryService:
    def __init__(self, stored="F32", faults=None, exports=True, loads=True):
        random = np.random.default_rng(42)
        self.embedding = random.standard_normal((VOCABULARY, WIDTH)).astype(np.float32)
        self.base = (random.standard_normal((VOCABULARY, WIDTH)) / 4).astype(np.float32)
        self.stored, self.faults, self.exports = stored, faults or Faults(), exports
        self.loads = loads
        self.saved, self.live, self.created = {}, set(), 0

    def identity(self):
        return ServiceIdentity("memory", "0", hashlib.sha256(b"").hexdigest(), None)

    def create(self, config):
        self.created += 1
        model = MemoryModel(self, config, self.created)
        self.live.add(model.model_id)
        assert len(self.live) == 1, "a throw-away model was not released at once"
        return model

    def create_from_state(self, config, uri, *, with_optimizer):
        if not self.loads:
            raise RefusedError("no loading here")
        model = self.create(config)
        return model, model.load_state(uri, with_optimizer=with_optimizer).result()

    def close(self):
        self.live.clear()

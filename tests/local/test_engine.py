"""The engine against transformers' Qwen3, autograd, and its own promises."""

import numpy as np
import pytest
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from rx_tools.local.base import BaseModel, tiny
from rx_tools.local.batch import Example
from rx_tools.local.engine import Engine
from rx_tools.local.lora import LoraConfig, fresh

BASE = tiny()
TOLERANCE = 1e-5


def trained_adapter(base: BaseModel, config: LoraConfig, seed: int = 0):
    """An adapter whose B is not zero, so that every gradient flows."""
    source, adapter = np.random.default_rng(seed), fresh(base, config, seed)
    return {
        name: tensor + (0.02 * source.standard_normal(tensor.shape)).astype(np.float32)
        for name, tensor in adapter.items()
    }


def examples(seed: int, lengths, names=("weights",)):
    source = np.random.default_rng(seed)
    draw = {
        "weights": lambda n: (source.random(n) < 0.5).astype(np.float32),
        "advantages": lambda n: source.standard_normal(n).astype(np.float32),
        "logprobs": lambda n: (source.standard_normal(n) * 0.2 - 7.6).astype(np.float32),
    }
    return [
        Example(
            source.integers(0, 2048, n), source.integers(0, 2048, n),
            {name: draw[name](n) for name in names},
        )
        for n in lengths
    ]  # fmt: skip


class Reference:
    """transformers' Qwen3 in float64 with the same base weights and LoRA factors."""

    def __init__(self, base: BaseModel, config: LoraConfig, adapter) -> None:
        shape = base.shape
        self.model = Qwen3ForCausalLM(
            Qwen3Config(
                vocab_size=shape.vocabulary, hidden_size=shape.hidden,
                intermediate_size=shape.intermediate, num_hidden_layers=shape.layers,
                num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
                head_dim=shape.head_dim, rope_theta=shape.rope_theta,
                rms_norm_eps=shape.norm_eps, tie_word_embeddings=False,
                attn_implementation="eager",
            )
        ).double()  # fmt: skip
        self.factors = {
            name: torch.tensor(tensor).double().requires_grad_() for name, tensor in adapter.items()
        }
        self.weights = {name: torch.tensor(w).double() for name, w in base.weights.items()}
        for name in config.targets(shape):
            a, b = self.factors[f"{name}.lora_A.weight"], self.factors[f"{name}.lora_B.weight"]
            self.weights[f"{name}.weight"] = self.weights[f"{name}.weight"] + config.scale * b @ a

    def logprobs(self, example: Example) -> torch.Tensor:
        tokens = torch.tensor(example.tokens)[None]
        logits = torch.func.functional_call(self.model, self.weights, (tokens,)).logits[0]
        chosen = torch.tensor(example.targets)[:, None]
        return torch.log_softmax(logits, -1).gather(1, chosen)[:, 0]


def relative(actual: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))


def loss_of(name: str, logprobs: torch.Tensor, inputs) -> torch.Tensor:
    """The losses as the SDK's documents define them, each a sum."""
    given = {key: torch.tensor(value).double() for key, value in inputs.items()}
    if name == "cross_entropy":
        return -(given["weights"] * logprobs).sum()
    ratio = torch.exp(logprobs - given["logprobs"])
    if name == "importance_sampling":
        return -(ratio * given["advantages"]).sum()
    clipped = torch.clamp(ratio, 0.8, 1.2)
    return -torch.min(ratio * given["advantages"], clipped * given["advantages"]).sum()


@pytest.mark.parametrize(("loss", "names"), [
    ("cross_entropy", ("weights",)),
    ("importance_sampling", ("logprobs", "advantages")),
    ("ppo", ("logprobs", "advantages")),
])  # fmt: skip
@pytest.mark.parametrize("config", [LoraConfig(32), LoraConfig(3, train_mlp=False)])
def test_logprobs_and_gradients_equal_autograd(loss, names, config):
    adapter = trained_adapter(BASE, config)
    batch = examples(1, [3, 40, 41, 70, 1, 130], names)
    reference = Reference(BASE, config, adapter)
    outcome = Engine(BASE).run(config, adapter, batch, loss, backward=True)
    expected = [reference.logprobs(each) for each in batch]
    total = sum(loss_of(loss, lp, each.inputs) for lp, each in zip(expected, batch, strict=True))
    total.backward()
    for actual, right in zip(outcome.logprobs, expected, strict=True):
        assert relative(actual, right.detach().numpy()) <= TOLERANCE
    assert outcome.loss == pytest.approx(total.item(), rel=TOLERANCE)
    assert set(outcome.gradients) == set(adapter)
    for name, factor in reference.factors.items():
        assert relative(outcome.gradients[name], factor.grad.numpy()) <= TOLERANCE


def test_a_long_sequence_is_exact_too():
    config = LoraConfig(4)
    adapter, batch = trained_adapter(BASE, config), examples(2, [900])
    reference = Reference(BASE, config, adapter)
    outcome = Engine(BASE).run(config, adapter, batch, backward=True)
    loss = loss_of("cross_entropy", reference.logprobs(batch[0]), batch[0].inputs)
    loss.backward()
    for name, factor in reference.factors.items():
        assert relative(outcome.gradients[name], factor.grad.numpy()) <= TOLERANCE


def test_equal_requests_give_equal_bits_and_other_groupings_nearly_so():
    config, batch = LoraConfig(8), examples(3, range(5, 60, 3))
    adapter, engine = trained_adapter(BASE, config), Engine(BASE)
    first, again = (engine.run(config, adapter, batch, backward=True) for _ in range(2))
    assert all(np.array_equal(first.gradients[n], again.gradients[n]) for n in adapter)
    assert all(map(np.array_equal, first.logprobs, again.logprobs))
    parts = [engine.run(config, adapter, [each], backward=True) for each in batch]
    for one, whole in zip(parts, first.logprobs, strict=True):
        assert relative(one.logprobs[0], whole) <= TOLERANCE
    for name in adapter:
        summed = np.sum([each.gradients[name] for each in parts], axis=0)
        assert relative(summed, first.gradients[name]) <= TOLERANCE


def test_a_fresh_adapter_leaves_the_base_model_as_it_is():
    batch = examples(4, [20, 33])
    plain = Engine(BASE).run(LoraConfig(1), fresh(BASE, LoraConfig(1), 0), batch, backward=False)
    other = Engine(BASE).run(LoraConfig(64), fresh(BASE, LoraConfig(64), 9), batch, backward=False)
    assert all(map(np.array_equal, plain.logprobs, other.logprobs))
    assert plain.gradients == {}

"""LoRA: what is trained, how it starts, and how gradients of whole matrices reach its factors."""

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.base import BaseModel
from rx_tools.local.shape import ATTENTION, MLP, UNEMBED, Shape, layer_name

Array = NDArray[np.float32]
ALPHA = 32


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """Rank and the three train flags of the protocol."""

    rank: int
    train_attn: bool = True
    train_mlp: bool = True
    train_unembed: bool = True

    @property
    def scale(self) -> float:
        """What B·A is multiplied by: alpha / rank, with alpha 32."""
        return ALPHA / self.rank

    def targets(self, shape: Shape) -> tuple[str, ...]:
        """The linear maps that are trained, in the order of the network."""
        chosen = (ATTENTION if self.train_attn else ()) + (MLP if self.train_mlp else ())
        inner = [layer_name(layer, each) for layer in range(shape.layers) for each in chosen]
        return (*inner, UNEMBED) if self.train_unembed else tuple(inner)


@dataclass(frozen=True, slots=True)
class Factors:
    """`a` is (rank × inputs), `b` is (outputs × rank)."""

    a: Array
    b: Array


Adapter = dict[str, Array]
"""`<linear>.lora_A.weight` and `<linear>.lora_B.weight` → float32 array."""


def factors(adapter: Mapping[str, Array], target: str) -> Factors:
    """The two factors of one linear map."""
    return Factors(adapter[f"{target}.lora_A.weight"], adapter[f"{target}.lora_B.weight"])


def fresh(base: BaseModel, config: LoraConfig, seed: int) -> Adapter:
    """A uniform in ±1/√inputs, B zero; each matrix has its own stream of the seed."""
    adapter: Adapter = {}
    for target in config.targets(base.shape):
        outputs, inputs = base.linear(target).shape
        source = np.random.default_rng([seed % (1 << 63), crc32(target.encode())])
        bound = inputs**-0.5
        drawn = source.uniform(-bound, bound, (config.rank, inputs))
        adapter[f"{target}.lora_A.weight"] = drawn.astype(np.float32)
        adapter[f"{target}.lora_B.weight"] = np.zeros((outputs, config.rank), np.float32)
    return adapter


def effective(
    base: BaseModel, config: LoraConfig, adapter: Mapping[str, Array]
) -> dict[str, Array]:
    """Every weight of the model, with scale · B·A added where it is trained."""
    weights = dict(base.weights)
    for target in config.targets(base.shape):
        pair = factors(adapter, target)
        delta = pair.b @ pair.a
        delta *= np.float32(config.scale)
        delta += base.linear(target)
        weights[f"{target}.weight"] = delta
    return weights


def pull_back(
    config: LoraConfig, adapter: Mapping[str, Array], gradients: Mapping[str, Array]
) -> Adapter:
    """Gradients of whole matrices → gradients of their factors, under the adapter's names."""
    scale, out = np.float32(config.scale), Adapter()
    for target, gradient in gradients.items():
        pair = factors(adapter, target)
        out[f"{target}.lora_A.weight"] = (pair.b.T @ gradient) * scale
        out[f"{target}.lora_B.weight"] = (gradient @ pair.a.T) * scale
    return out

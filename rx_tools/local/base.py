"""Frozen base weights: a seeded random tiny model, named as Hugging Face names Qwen3's."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rx_tools.local.shape import TINY, UNEMBED, Module, Shape, layer_name

Array = NDArray[np.float32]
Weights = Mapping[str, Array]
"""Hugging Face name → float32 array."""

EMBED = "model.embed_tokens.weight"
FINAL_NORM = "model.norm.weight"
SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A frozen transformer. `weights` holds one float32 array per Hugging Face name."""

    shape: Shape
    weights: Weights

    def linear(self, name: str) -> Array:
        """The weight (outputs × inputs) of a linear map."""
        return self.weights[f"{name}.weight"]


def layer_weight(weights: Weights, layer: int, module: Module) -> Array:
    """The matrix (outputs × inputs) of one linear map of a layer."""
    return weights[f"{layer_name(layer, module)}.weight"]


def norm_weight(weights: Weights, layer: int, name: str) -> Array:
    """The scale of one of a layer's four norms."""
    return weights[f"model.layers.{layer}.{name}.weight"]


def tiny() -> BaseModel:
    """The model `rx/tiny-qwen3`: drawn from a fixed seed, equal in every process.

    Every embedding shares a common direction, so that token frequencies, the first thing that a
    language model learns, are within reach of a short run.
    """
    shape, source = TINY, np.random.default_rng(SEED)

    def normal(rows: int, columns: int, scale: float) -> Array:
        drawn = source.standard_normal((rows, columns), dtype=np.float32)
        return drawn * np.float32(scale)

    weights = {EMBED: normal(shape.vocabulary, shape.hidden, 1.0) + np.float32(0.5)}
    for layer in range(shape.layers):
        for module in Module:
            rows, columns = shape.linear(module)
            name = layer_name(layer, module)
            weights[f"{name}.weight"] = normal(rows, columns, 0.5 / columns**0.5)
        weights |= _unit_norms(layer, shape)
    weights[FINAL_NORM] = np.ones(shape.hidden, np.float32)
    weights[f"{UNEMBED}.weight"] = normal(shape.vocabulary, shape.hidden, 0.02)
    return BaseModel(shape, weights)


def _unit_norms(layer: int, shape: Shape) -> dict[str, Array]:
    prefix = f"model.layers.{layer}."
    return {
        f"{prefix}input_layernorm.weight": np.ones(shape.hidden, np.float32),
        f"{prefix}post_attention_layernorm.weight": np.ones(shape.hidden, np.float32),
        f"{prefix}self_attn.q_norm.weight": np.ones(shape.head_dim, np.float32),
        f"{prefix}self_attn.k_norm.weight": np.ones(shape.head_dim, np.float32),
    }

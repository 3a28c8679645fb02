"""A Qwen3-shaped transformer: hidden states forward, weight gradients backward.

The weights are given as a mapping of name → matrix, so that the caller decides what is trained:
with LoRA the effective matrices go in, and the gradients of the trainable ones come out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rx_tools.local import attention
from rx_tools.local.activation import sigmoid_of
from rx_tools.local.base import EMBED, FINAL_NORM, Weights, layer_weight, norm_weight
from rx_tools.local.norm import normalize, normalize_back
from rx_tools.local.shape import Module, Shape, layer_name

Array = NDArray[np.float32]
Learn = Callable[[str, Array, Array], None]
"""Told (name, upstream gradient, input) of each linear map, both as (positions × width)."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What the backward pass needs of one layer's forward pass."""

    entry: Array
    normed: Array
    inverse: Array
    heads: "Heads"
    context: Array
    attention: Array | None
    middle: Array
    middle_normed: Array
    middle_inverse: Array
    gate: Array
    sigmoid: Array
    up: Array


@dataclass(frozen=True, slots=True)
class Heads:
    """Projections before and after per-head normalization and rotation."""

    raw_query: Array
    raw_key: Array
    query_inverse: Array
    key_inverse: Array
    query: Array
    key: Array
    value: Array


@dataclass(frozen=True, slots=True)
class Trace:
    """The forward pass of one padded batch: `hidden` is (batch·length × hidden)."""

    size: tuple[int, int]
    layers: tuple[Layer, ...]
    last: Array
    last_inverse: Array
    hidden: Array


class Transformer:
    """Forward and backward of one model; `weights` holds effective matrices."""

    def __init__(self, shape: Shape, weights: Weights) -> None:
        self.shape, self.weights = shape, weights

    def forward(self, tokens: NDArray[np.int64]) -> Trace:
        """Run (batch × length) token ids, right-padded with any valid id."""
        size = (tokens.shape[0], tokens.shape[1])
        stream = self.weights[EMBED][tokens.ravel()]
        tables = self._tables(size[1])
        layers = []
        for index in range(self.shape.layers):
            layer, stream = self._layer(index, stream, size, tables)
            layers.append(layer)
        hidden, inverse = normalize(stream, self.weights[FINAL_NORM], self.shape.norm_eps)
        return Trace(size, tuple(layers), stream, inverse, hidden)

    def backward(self, trace: Trace, upstream: Array, learn: Learn) -> None:
        """Send the gradient of `trace.hidden` down and report each linear map to `learn`."""
        above = normalize_back(upstream, trace.last, self.weights[FINAL_NORM], trace.last_inverse)
        tables = self._tables(trace.size[1])
        for index in reversed(range(self.shape.layers)):
            layer = trace.layers[index]
            above = self._mlp_back(index, layer, above, learn)
            above = self._attention_back(index, layer, above, learn, size=trace.size, tables=tables)

    def _matrix(self, layer: int, module: Module) -> Array:
        return layer_weight(self.weights, layer, module)

    def _norm_weight(self, layer: int, name: str) -> Array:
        return norm_weight(self.weights, layer, name)

    def _tables(self, length: int) -> tuple[Array, Array]:
        return attention.rotation(length, self.shape.head_dim, self.shape.rope_theta)

    def _layer(
        self, index: int, entry: Array, size: tuple[int, int], tables: tuple[Array, Array]
    ) -> tuple[Layer, Array]:
        eps = self.shape.norm_eps
        normed, inverse = normalize(entry, self._norm_weight(index, "input_layernorm"), eps)
        heads = self._heads(index, normed, size, tables)
        attended, kept = attention.attend(heads.query, heads.key, heads.value)
        context = _flat(attended)
        middle = entry + context @ self._matrix(index, Module.OUTPUT).T
        weight = self._norm_weight(index, "post_attention_layernorm")
        middle_normed, middle_inverse = normalize(middle, weight, eps)
        gate = middle_normed @ self._matrix(index, Module.GATE).T
        up = middle_normed @ self._matrix(index, Module.UP).T
        sigmoid = sigmoid_of(gate)
        out = middle + (gate * sigmoid * up) @ self._matrix(index, Module.DOWN).T
        layer = Layer(
            entry, normed, inverse, heads, context, kept,
            middle, middle_normed, middle_inverse, gate, sigmoid, up,
        )  # fmt: skip
        return layer, out

    def _heads(
        self, index: int, normed: Array, size: tuple[int, int], tables: tuple[Array, Array]
    ) -> Heads:
        eps, kv = self.shape.norm_eps, self.shape.kv_heads
        raw_query = self._split(normed @ self._matrix(index, Module.QUERY).T, size, kv)
        raw_key = self._split(normed @ self._matrix(index, Module.KEY).T, size, kv)
        value = self._split(normed @ self._matrix(index, Module.VALUE).T, size, kv)[:, :, 0]
        query, query_inverse = normalize(
            raw_query, self._norm_weight(index, "self_attn.q_norm"), eps
        )
        key, key_inverse = normalize(raw_key, self._norm_weight(index, "self_attn.k_norm"), eps)
        return Heads(
            raw_query, raw_key, query_inverse, key_inverse,
            attention.rotate(query, *tables), attention.rotate(key, *tables)[:, :, 0], value,
        )  # fmt: skip

    def _split(self, x: Array, size: tuple[int, int], kv: int) -> Array:
        split = x.reshape(*size, kv, -1, self.shape.head_dim)
        return np.ascontiguousarray(split.transpose(0, 2, 3, 1, 4))

    def _mlp_back(self, index: int, layer: Layer, above: Array, learn: Learn) -> Array:
        name = f"model.layers.{index}."
        swish = layer.gate * layer.sigmoid
        inner = above @ self._matrix(index, Module.DOWN)
        learn(f"{name}{Module.DOWN}", above, swish * layer.up)
        d_up = inner * swish
        d_gate = inner * layer.up * (layer.sigmoid + swish * (np.float32(1) - layer.sigmoid))
        learn(f"{name}{Module.UP}", d_up, layer.middle_normed)
        learn(f"{name}{Module.GATE}", d_gate, layer.middle_normed)
        below: Array = np.add(
            d_up @ self._matrix(index, Module.UP), d_gate @ self._matrix(index, Module.GATE)
        )
        weight = self._norm_weight(index, "post_attention_layernorm")
        return above + normalize_back(below, layer.middle, weight, layer.middle_inverse)

    def _attention_back(
        self, index: int, layer: Layer, above: Array, learn: Learn, *,
        size: tuple[int, int], tables: tuple[Array, Array],
    ) -> Array:  # fmt: skip
        heads, kv = layer.heads, self.shape.kv_heads
        learn(layer_name(index, Module.OUTPUT), above, layer.context)
        d_context = self._split(above @ self._matrix(index, Module.OUTPUT), size, kv)
        d_query, d_key, d_value = attention.attend_back(
            d_context, heads.query, heads.key, heads.value, layer.attention
        )
        cos, sin = tables
        d_query = normalize_back(
            attention.rotate(d_query, cos, -sin), heads.raw_query,
            self._norm_weight(index, "self_attn.q_norm"), heads.query_inverse,
        )  # fmt: skip
        d_key = normalize_back(
            attention.rotate(d_key, cos, -sin)[:, :, None], heads.raw_key,
            self._norm_weight(index, "self_attn.k_norm"), heads.key_inverse,
        )  # fmt: skip
        below = np.zeros_like(layer.normed)
        parts = ((Module.QUERY, d_query), (Module.KEY, d_key), (Module.VALUE, d_value[:, :, None]))
        for module, gradient in parts:
            flat = _flat(gradient)
            learn(layer_name(index, module), flat, layer.normed)
            below += flat @ self._matrix(index, module)
        weight = self._norm_weight(index, "input_layernorm")
        return above + normalize_back(below, layer.entry, weight, layer.inverse)


def _flat(heads: Array) -> Array:
    """(batch, kv, group, length, dim) → (batch·length × kv·group·dim)."""
    batch, kv, group, length, dim = heads.shape
    return heads.transpose(0, 3, 1, 2, 4).reshape(batch * length, kv * group * dim)

"""A transformer that remembers keys and values, so that each new token costs one position."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rx_tools.local import attention
from rx_tools.local.activation import swish
from rx_tools.local.base import EMBED, FINAL_NORM, Weights, layer_weight, norm_weight
from rx_tools.local.norm import normalize
from rx_tools.local.shape import UNEMBED, Module, Shape

Array = NDArray[np.float32]
BLOCK = 256
"""Tokens that go through the network together: bounds the memory of a long prompt."""


class Decoder:
    """One sequence in the making. `weights` are effective matrices."""

    def __init__(self, shape: Shape, weights: Weights) -> None:
        self.shape, self.weights, self.length = shape, weights, 0
        empty = np.empty((shape.kv_heads, 0, shape.head_dim), np.float32)
        self._keys = [empty] * shape.layers
        self._values = [empty] * shape.layers

    def feed(self, tokens: Sequence[int]) -> Array:
        """Append tokens; log-probabilities (tokens × vocabulary) of what follows each."""
        parts = [self._feed(tokens[at : at + BLOCK]) for at in range(0, len(tokens), BLOCK)]
        return np.concatenate(parts)

    def _feed(self, tokens: Sequence[int]) -> Array:
        stream = self.weights[EMBED][np.asarray(tokens, np.int64)]
        cos, sin = attention.rotation(
            self.length + len(tokens), self.shape.head_dim, self.shape.rope_theta
        )
        tables = cos[self.length :], sin[self.length :]
        for layer in range(self.shape.layers):
            stream = self._attention(layer, stream, tables)
            stream = self._mlp(layer, stream)
        self.length += len(tokens)
        hidden, _ = normalize(stream, self.weights[FINAL_NORM], self.shape.norm_eps)
        logits = hidden @ self.weights[f"{UNEMBED}.weight"].T
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits

    def fork(self) -> "Decoder":
        """A second sequence with the same beginning."""
        twin = Decoder(self.shape, self.weights)
        twin.length = self.length
        twin._keys, twin._values = list(self._keys), list(self._values)
        return twin

    def _attention(self, layer: int, stream: Array, tables: tuple[Array, Array]) -> Array:
        eps = self.shape.norm_eps
        normed, _ = normalize(stream, norm_weight(self.weights, layer, "input_layernorm"), eps)
        query = self._heads(layer, Module.QUERY, normed, self.shape.heads)
        key = self._heads(layer, Module.KEY, normed, self.shape.kv_heads)
        value = self._heads(layer, Module.VALUE, normed, self.shape.kv_heads)
        query, _ = normalize(query, norm_weight(self.weights, layer, "self_attn.q_norm"), eps)
        key, _ = normalize(key, norm_weight(self.weights, layer, "self_attn.k_norm"), eps)
        key = attention.rotate(key, *tables)
        self._keys[layer] = np.concatenate([self._keys[layer], key], axis=1)
        self._values[layer] = np.concatenate([self._values[layer], value], axis=1)
        context = self._look_back(layer, attention.rotate(query, *tables))
        mixed: Array = stream + context @ layer_weight(self.weights, layer, Module.OUTPUT).T
        return mixed

    def _look_back(self, layer: int, query: Array) -> Array:
        heads, count, dim = query.shape
        grouped = query.reshape(self.shape.kv_heads, -1, count, dim)
        keys, values = self._keys[layer][:, None], self._values[layer][:, None]
        scores: Array = np.multiply(grouped, np.float32(dim**-0.5)) @ keys.swapaxes(-1, -2)
        later = np.arange(keys.shape[-2]) > self.length + np.arange(count)[:, None]
        scores[..., later] = -np.inf
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        context: Array = (scores @ values).reshape(heads, count, dim)
        return context.transpose(1, 0, 2).reshape(count, heads * dim)

    def _heads(self, layer: int, module: Module, normed: Array, heads: int) -> Array:
        projected = normed @ layer_weight(self.weights, layer, module).T
        return projected.reshape(len(normed), heads, self.shape.head_dim).transpose(1, 0, 2)

    def _mlp(self, layer: int, stream: Array) -> Array:
        weight = norm_weight(self.weights, layer, "post_attention_layernorm")
        normed, _ = normalize(stream, weight, self.shape.norm_eps)
        gate = normed @ layer_weight(self.weights, layer, Module.GATE).T
        up = normed @ layer_weight(self.weights, layer, Module.UP).T
        inner: Array = np.multiply(swish(gate), up)
        out: Array = stream + inner @ layer_weight(self.weights, layer, Module.DOWN).T
        return out

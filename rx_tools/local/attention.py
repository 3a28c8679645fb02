"""Causal grouped-query attention, forward and backward, in bounded memory.

Probabilities of short sequences are kept for the backward pass; those of long ones are computed
afresh, slice by slice, so that length costs time and not memory.

Shapes: queries (batch, kv, group, length, dim); keys and values (batch, kv, length, dim). Padding
on the right needs no mask: no earlier position looks at it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
SLICE_SCORES = 1 << 20


def rotation(length: int, dim: int, theta: float) -> tuple[Array, Array]:
    """Cosine and sine tables (length × dim/2) of rotary position embedding."""
    frequency = theta ** -(np.arange(0, dim, 2, dtype=np.float64) / dim)
    angle = np.arange(length, dtype=np.float64)[:, None] * frequency
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rotate(x: Array, cos: Array, sin: Array) -> Array:
    """Rotate the two halves of the last axis; the axis before it is the position."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def attend(query: Array, key: Array, value: Array) -> tuple[Array, Array | None]:
    """Attention output in the shape of `query`, and the probabilities where they are small."""
    out, kept = np.empty_like(query), None
    parts = list(_slices(query))
    for part in parts:
        weights = _probabilities(query[part], key[part])
        out[part] = weights @ value[part][:, :, None]
        kept = weights if len(parts) == 1 else None
    return out, kept


def attend_back(
    upstream: Array, query: Array, key: Array, value: Array, kept: Array | None
) -> tuple[Array, Array, Array]:
    """Gradients towards query, key and value; `kept` as `attend` returned it."""
    d_query, d_key, d_value = np.empty_like(query), np.empty_like(key), np.empty_like(value)
    scale = np.float32(query.shape[-1] ** -0.5)
    for part in _slices(query):
        weights = kept if kept is not None else _probabilities(query[part], key[part])
        above = upstream[part]
        d_value[part] = (weights.swapaxes(-1, -2) @ above).sum(axis=2)
        d_scores = above @ value[part][:, :, None].swapaxes(-1, -2)
        d_scores -= np.einsum("...ij,...ij->...i", d_scores, weights)[..., None]
        d_scores *= weights
        d_scores *= scale
        d_query[part] = d_scores @ key[part][:, :, None]
        d_key[part] = (d_scores.swapaxes(-1, -2) @ query[part]).sum(axis=2)
    return d_query, d_key, d_value


def _probabilities(query: Array, key: Array) -> Array:
    length, dim = query.shape[-2:]
    scores: Array = np.multiply(query, np.float32(dim**-0.5)) @ key[:, :, None].swapaxes(-1, -2)
    scores += np.triu(np.full((length, length), -np.inf, np.float32), 1)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def _slices(query: Array) -> Iterator[tuple[slice, slice]]:
    batch, kv, group, length, _ = query.shape
    rows = max(1, SLICE_SCORES // (kv * group * length * length))
    heads = kv if rows > 1 else max(1, SLICE_SCORES // (group * length * length))
    for row in range(0, batch, rows):
        for head in range(0, kv, heads):
            yield slice(row, row + rows), slice(head, head + heads)

"""Held-out scoring: every forward under way at once, exact totals per example.

A counted token has weight > 0. Totals are `(nll_sum, n_tokens)` per item, summed without rounding
error from full-precision log-probabilities; a server's own loss metrics are never used.
"""

import hashlib
import math
import struct
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rx_tools.model.names import Sha256
from rx_tools.numerics.loss_eval import LossEval, example_nll
from rx_tools.runner.arms.arm import HygieneError
from rx_tools.runner.data.order import batch_digest
from rx_tools.runner.service import Datum, ForwardResult, Model, Pending

CHUNK = 16
"""Items per forward: fixed, because a server's padding may change the last bits."""

IN_FLIGHT = 8
"""Forwards under way at once; bounds the memory on both sides."""


@dataclass(frozen=True, slots=True)
class ItemScore:
    """One item: its summed NLL in nats, its counted tokens, the digest of what was scored."""

    item_id: str
    nll_sum: float
    n_tokens: int
    datum_sha256: Sha256


@dataclass(frozen=True, slots=True)
class Scores:
    """All items of one model in order, and the digest of every log-probability."""

    items: tuple[ItemScore, ...]
    output_sha256: Sha256

    def loss_eval(self, aggregation: str) -> LossEval:
        """The totals as the one loss definition takes them."""
        collected = LossEval(aggregation)
        collected.examples.extend((item.nll_sum, item.n_tokens) for item in self.items)
        return collected

    @property
    def token_mean(self) -> float:
        """Summed NLL / counted tokens, in nats; NaN without a counted token."""
        value = self.loss_eval("token_mean").record()["token_mean"]
        return math.nan if value is None else float(value)


def score_items(
    model: Model,
    ids: Sequence[str],
    batch: Callable[[int, int], Sequence[Datum]],
    *,
    chunk: int = CHUNK,
    in_flight: int = IN_FLIGHT,
    told: Callable[[int], None] = lambda done: None,
) -> Scores:
    """Score the items `ids`; `batch(start, stop)` gives their datums, `told` the number done.

    Raises `HygieneError` for a counted log-probability that is no finite number, naming the item.
    """
    under_way: deque[tuple[int, Sequence[Datum], Pending[ForwardResult]]] = deque()
    scored: list[ItemScore] = []
    digest = hashlib.sha256()

    def collect(keep: int) -> None:
        while len(under_way) > keep:
            start, datums, pending = under_way.popleft()
            logprobs = pending.result().logprobs
            names = ids[start : start + len(datums)]
            scored.extend(_scores(names, datums, logprobs))
            _add_output(digest, logprobs)
            told(len(scored))

    for start in range(0, len(ids), chunk):
        datums = batch(start, min(start + chunk, len(ids)))
        under_way.append((start, datums, model.forward(datums)))
        collect(in_flight - 1)
    collect(0)
    return Scores(tuple(scored), Sha256(digest.hexdigest()))


def output_digest(logprobs: Iterable[NDArray[np.float32]]) -> Sha256:
    """SHA-256 over float32 little-endian arrays, each preceded by its length as uint64."""
    digest = hashlib.sha256()
    _add_output(digest, logprobs)
    return Sha256(digest.hexdigest())


def _add_output(digest: "hashlib._Hash", logprobs: Iterable[NDArray[np.float32]]) -> None:
    for array in logprobs:
        digest.update(struct.pack("<Q", len(array)))
        digest.update(array.astype("<f4").tobytes())


def _scores(
    names: Sequence[str], datums: Sequence[Datum], logprobs: Sequence[NDArray[np.float32]]
) -> list[ItemScore]:
    if not len(names) == len(datums) == len(logprobs):
        raise HygieneError(f"{len(logprobs)} answers to {len(datums)} items")
    return [
        _score(name, datum, array)
        for name, datum, array in zip(names, datums, logprobs, strict=True)
    ]


def _score(name: str, datum: Datum, logprobs: NDArray[np.float32]) -> ItemScore:
    if len(logprobs) != len(datum.weights):
        raise HygieneError(
            f"item {name}: {len(logprobs)} log-probabilities for {len(datum.weights)} tokens"
        )
    nll_sum, n_tokens = example_nll(logprobs, datum.weights)
    if not math.isfinite(nll_sum):
        raise HygieneError(f"item {name}: a counted log-probability is no finite number")
    return ItemScore(name, nll_sum, n_tokens, batch_digest((datum,)))

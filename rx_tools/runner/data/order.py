"""Which row is trained on when: the orders that the specs' commands state, and batch digests."""

import hashlib
import random
import struct
from collections.abc import Sequence
from enum import StrEnum

from rx_tools.errors import UsageError
from rx_tools.model.names import Sha256
from rx_tools.runner.service import Datum


class Order(StrEnum):
    """How the training rows of a seed are put in order."""

    SPLIT_THEN_SHUFFLE = "split_then_shuffle"
    """One shuffle by `split_seed`; the first `held_out` rows are kept for the selection, the
    rest is shuffled once more by the training seed, from where the first shuffle left it."""

    SHUFFLE_PER_SEED = "shuffle_per_seed"
    """One shuffle of all rows by the training seed; all arms of a seed share it."""

    FILE_ORDER = "file_order"
    """The first `held_out` rows are kept for the selection, the rest follows as it stands."""


def _shuffled(rows: Sequence[int], seed: int) -> list[int]:
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 — the commands name this very generator
    return shuffled


def split_rows(
    order: Order, n_rows: int, *, split_seed: int | None = None, held_out: int = 0
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Row numbers kept for the selection, and row numbers to train on before any seed's shuffle.

    Raises `UsageError` where the order cannot do what is asked.
    """
    if not 0 <= held_out < n_rows:
        raise UsageError(f"{held_out} rows cannot be held out of {n_rows}")
    if order is Order.SHUFFLE_PER_SEED and held_out:
        raise UsageError(f"{order} has no held-out rows", hint=f"use {Order.SPLIT_THEN_SHUFFLE}")
    rows = list(range(n_rows))
    if order is Order.SPLIT_THEN_SHUFFLE:
        if split_seed is None:
            raise UsageError(f"{order} needs a split seed")
        rows = _shuffled(rows, split_seed)
    return tuple(rows[:held_out]), tuple(rows[held_out:])


def training_order(order: Order, rows: Sequence[int], seed: int) -> tuple[int, ...]:
    """The rows left by `split_rows` in the order of one training seed."""
    return tuple(rows) if order is Order.FILE_ORDER else tuple(_shuffled(rows, seed))


def batch_rows(rows: Sequence[int], step: int, batch_size: int, epochs: int = 1) -> tuple[int, ...]:
    """The rows of a step, `rows[step*B:(step+1)*B]`; whole batches only.

    A step beyond the last whole batch is refused, unless `epochs` says how often the same order
    may be run through. Raises `UsageError`.
    """
    whole = len(rows) // batch_size
    if not 0 <= step < whole * epochs:
        raise UsageError(
            f"step {step} has no rows: {len(rows)} rows give {whole} batches of {batch_size}"
            f" in {epochs} epoch(s)",
            hint="plan fewer steps, or say how many epochs are meant",
        )
    start = step % whole * batch_size
    return tuple(rows[start : start + batch_size])


def batch_digest(batch: Sequence[Datum]) -> Sha256:
    """SHA-256 over the datums in order: tokens and targets (int64), weights (float32).

    Each array is little-endian and preceded by its number of elements as a little-endian uint64.
    """
    total = hashlib.sha256()
    for datum in batch:
        for array, kind in ((datum.tokens, "<i8"), (datum.targets, "<i8"), (datum.weights, "<f4")):
            total.update(struct.pack("<Q", len(array)))
            total.update(array.astype(kind).tobytes())
    return Sha256(total.hexdigest())

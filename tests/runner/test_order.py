"""Training order and batch digests, against the very text of the specs' commands."""

import json
import random
import struct
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rx_tools.errors import UsageError
from rx_tools.runner.data.order import Order, batch_digest, batch_rows, split_rows, training_order
from rx_tools.runner.service import Datum

SPEC = Path(__file__).parents[1] / "fixtures" / "exp_71911f0fb9.spec.json"
BOTH = Order.SPLIT_THEN_SHUFFLE


def commanded(n_rows: int, seed: int) -> tuple[list[int], list[int]]:
    """Run the lines of the saved command that shuffle and split."""
    lines = json.loads(SPEC.read_text("utf-8"))["command"].split("\n")
    (load,) = (line for line in lines if "random.Random(1234).shuffle(tr)" in line)
    (split,) = (line for line in lines if line.startswith("val, train ="))
    names = {"tr": list(range(n_rows)), "random": random, "SEED": seed}
    exec(load.split("; ")[-1], names)
    exec(split, names)
    return names["val"], names["train"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_split_then_shuffle_is_what_the_command_does(seed: int) -> None:
    val, train = commanded(9500, seed)
    search, rest = split_rows(BOTH, 9500, split_seed=1234, held_out=500)
    assert list(search) == val
    assert list(training_order(BOTH, rest, seed)) == train
    assert list(batch_rows(train, 99, 32)) == train[99 * 32 : 100 * 32]


def test_the_split_is_the_same_for_every_seed_and_nothing_is_lost() -> None:
    search, rest = split_rows(BOTH, 3840, split_seed=1234, held_out=500)
    orders = {training_order(BOTH, rest, seed) for seed in range(3)}
    assert len(orders) == 3
    assert all(sorted((*search, *order)) == list(range(3840)) for order in orders)


def test_one_shuffle_per_seed() -> None:
    rows = list(range(3840))
    random.Random(7).shuffle(rows)
    search, rest = split_rows(Order.SHUFFLE_PER_SEED, 3840)
    assert search == ()
    assert list(training_order(Order.SHUFFLE_PER_SEED, rest, 7)) == rows


def test_file_order_leaves_the_rows_alone() -> None:
    search, rest = split_rows(Order.FILE_ORDER, 10, held_out=3)
    assert search == (0, 1, 2)
    assert training_order(Order.FILE_ORDER, rest, 5) == tuple(range(3, 10))


@given(st.integers(1, 60), st.integers(1, 8), st.integers(1, 3))
def test_whole_batches_only_and_no_silent_second_pass(rows: int, size: int, epochs: int) -> None:
    order = list(range(rows))
    steps = rows // size * epochs
    batches = [batch_rows(order, step, size, epochs) for step in range(steps)]
    assert all(len(batch) == size for batch in batches)
    assert [row for batch in batches for row in batch] == order[: rows // size * size] * epochs
    with pytest.raises(UsageError):
        batch_rows(order, steps, size, epochs)
    with pytest.raises(UsageError):
        batch_rows(order, -1, size, epochs)


def test_what_an_order_cannot_do_is_refused() -> None:
    with pytest.raises(UsageError, match="split seed"):
        split_rows(BOTH, 10, held_out=2)
    with pytest.raises(UsageError, match="held-out"):
        split_rows(Order.SHUFFLE_PER_SEED, 10, held_out=2)
    for held_out in (-1, 10, 11):
        with pytest.raises(UsageError, match="held out"):
            split_rows(BOTH, 10, split_seed=1, held_out=held_out)


def packed(datum: Datum) -> bytes:
    n = len(datum.tokens)
    return b"".join(
        struct.pack(f"<Q{n}{code}", n, *array.tolist())
        for array, code in ((datum.tokens, "q"), (datum.targets, "q"), (datum.weights, "f"))
    )


def test_the_batch_digest_packs_length_and_little_endian_values() -> None:
    a = Datum(np.array([1, 2]), np.array([2, 3]), np.array([0, 1], np.float32))
    b = Datum(np.array([300]), np.array([2**40]), np.array([0.25], np.float32))
    assert batch_digest([a, b]) == sha256(packed(a) + packed(b)).hexdigest()
    big_endian = Datum(a.tokens.astype(">i8"), a.targets.astype(">i8"), a.weights.astype(">f4"))
    assert batch_digest([big_endian, b]) == batch_digest([a, b])
    assert batch_digest([]) == sha256(b"").hexdigest()


def test_every_part_of_a_batch_changes_its_digest() -> None:
    tokens, mask = np.array([1, 2]), np.array([0, 1], np.float32)
    one = Datum(tokens, tokens, mask)
    others = [
        [Datum(tokens + 1, tokens, mask)],
        [Datum(tokens, tokens + 1, mask)],
        [Datum(tokens, tokens, 1 - mask)],
        [one, one],
        [],
    ]
    assert batch_digest([one]) not in [batch_digest(other) for other in others]

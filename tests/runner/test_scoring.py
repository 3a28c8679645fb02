"""Scores are exact totals in item order, whatever the chunks and the order of answers."""

import hashlib
import json
import math
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from rx_tools.model.names import CheckpointUri
from rx_tools.numerics.loss_eval import check, report
from rx_tools.runner.arms.arm import HygieneError
from rx_tools.runner.arms.score_arm import load_final
from rx_tools.runner.arms.score_rows import (
    ScoredAs,
    different_tokens,
    jsonl,
    observation_rows,
    prediction_rows,
)
from rx_tools.runner.arms.scoring import output_digest, score_items
from rx_tools.runner.service import Datum, RefusedError
from tests.runner.memory_service import MemoryModel, MemoryService
from tests.runner.workshop import Batches, make_job

ITEMS = [datum for step in range(10) for datum in Batches().train_batch(1, step)]
IDS = [f"item-{number}" for number in range(len(ITEMS))]
TOLD = ScoredAs("adamw-s0", "baseline", 0, "nll", "e" * 64)


def batch(start: int, stop: int) -> Sequence[Datum]:
    return ITEMS[start:stop]


@pytest.fixture
def model() -> MemoryModel:
    return MemoryService().create(make_job().config)


def test_the_totals_are_those_of_one_forward_per_item(model: MemoryModel) -> None:
    scores = score_items(model, IDS, batch, chunk=7, in_flight=3)
    assert [item.item_id for item in scores.items] == IDS
    for item, datum in zip(scores.items, ITEMS, strict=True):
        (logprobs,) = model.forward([datum]).result().logprobs
        kept = [float(value) for value, w in zip(logprobs, datum.weights, strict=True) if w > 0]
        assert item.nll_sum == -math.fsum(kept) and item.n_tokens == len(kept)


def test_chunks_change_neither_totals_nor_digest(model: MemoryModel) -> None:
    assert score_items(model, IDS, batch, chunk=1) == score_items(model, IDS, batch, chunk=40)


def test_the_output_digest_is_lengths_and_little_endian_floats() -> None:
    arrays = [np.array([-0.5, -1.25], np.float32), np.array([-3.0], np.float32)]
    by_hand = bytes.fromhex("0200000000000000000000bf0000a0bf0100000000000000000040c0")
    assert output_digest(arrays) == hashlib.sha256(by_hand).hexdigest()
    assert output_digest(arrays[::-1]) != output_digest(arrays)


def test_an_answer_that_is_no_number_names_its_item(model: MemoryModel) -> None:
    model.state.table[ITEMS[17].tokens[-1]] = np.nan
    with pytest.raises(HygieneError, match="item item-"):
        score_items(model, IDS, batch)


def test_no_more_forwards_are_under_way_than_allowed(model: MemoryModel) -> None:
    open_now, most = [0], [0]
    forward = model.forward

    class Watched:
        def __init__(self, pending) -> None:
            self._pending = pending
            open_now[0] += 1
            most[0] = max(most[0], open_now[0])

        def result(self):
            open_now[0] -= 1
            return self._pending.result()

    model.forward = lambda datums: Watched(forward(datums))
    score_items(model, IDS, batch, chunk=2, in_flight=5)
    assert most[0] == 5 and open_now[0] == 0


def test_the_mean_of_the_observations_is_the_token_mean(model: MemoryModel) -> None:
    scores = score_items(model, IDS, batch)
    values = [row["value"] for row in observation_rows(scores, TOLD, "token_mean")]
    assert math.fsum(values) / len(values) == pytest.approx(scores.token_mean, rel=1e-14)
    examples = [row["value"] for row in observation_rows(scores, TOLD, "example_mean")]
    record = scores.loss_eval("example_mean").record()
    assert math.fsum(examples) / len(examples) == pytest.approx(record["value"], rel=1e-14)
    assert record["value"] != pytest.approx(scores.token_mean, rel=1e-6)


def test_an_item_without_tokens_counts_as_the_definition_says(model: MemoryModel) -> None:
    empty = Datum(ITEMS[0].tokens, ITEMS[0].targets, np.zeros_like(ITEMS[0].weights))
    items = [*ITEMS[:3], empty]
    scores = score_items(model, IDS[:4], lambda start, stop: items[start:stop])
    values = [row["value"] for row in observation_rows(scores, TOLD, "token_mean")]
    assert math.fsum(values) / len(values) == pytest.approx(scores.token_mean, rel=1e-14)
    assert len(list(observation_rows(scores, TOLD, "example_mean"))) == 3


def test_the_loss_record_of_the_scores_passes_its_own_check(model: MemoryModel) -> None:
    scores = score_items(model, IDS, batch)
    section = report("token_mean", {"adamw-s0": scores.loss_eval("token_mean")})
    assert check({"eval": {"metric": "held-out NLL per token"}}, section) == []


def test_predictions_say_what_was_scored_and_by_whom(model: MemoryModel) -> None:
    rows = [
        json.loads(line)
        for line in jsonl(prediction_rows(score_items(model, IDS, batch), TOLD)).splitlines()
    ]
    assert len(rows) == len(IDS)
    assert {"evaluator_id", "metric", "arm", "item_id", "seed", "checkpoint"} <= set(rows[0])


def test_items_that_differ_between_two_models_are_named(model: MemoryModel) -> None:
    first = score_items(model, IDS, batch)
    second = score_items(model, IDS[:-1], lambda a, b: (ITEMS[:3] + ITEMS[4:5] + ITEMS[4:])[a:b])
    assert different_tokens(first, first) == ()
    assert different_tokens(first, second) == ("item-3", "item-39")


def test_a_final_checkpoint_that_is_gone_is_named_with_what_hangs_on_it() -> None:
    service = MemoryService()
    bench = SimpleNamespace(service=service, config=lambda arm, seeded: make_job().config)
    uri = CheckpointUri("memory://m0/final")
    with pytest.raises(RefusedError, match="no checkpoint") as caught:
        load_final(bench, SimpleNamespace(name="adamw-s0"), uri)
    assert caught.value.where == "adamw-s0"
    assert uri in caught.value.hint

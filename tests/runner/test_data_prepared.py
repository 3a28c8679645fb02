"""The data of a run: batches, items, digests, counts and the manifest."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rx_tools.errors import DocumentError, UsageError
from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.assets.chats import ODDITIES, rows
from rx_tools.runner.data.chats import Message, Row, row_from
from rx_tools.runner.data.order import Order, batch_digest
from rx_tools.runner.data.planned_data import planned_data
from rx_tools.runner.data.prepared import DataChoices, PreparedData, mean_weights, prepare_data
from rx_tools.runner.data.rendering import BuiltInRenderer, Rendered
from rx_tools.runner.data.sources import BUILT_IN, Dataset

RENDERER = BuiltInRenderer("qwen3_5", tokenizer_folder())
SIX = DataChoices(Order.SHUFFLE_PER_SEED, batch_size=32, max_length=2048, eval_first=300)
TWELVE = DataChoices(
    Order.SPLIT_THEN_SHUFFLE, batch_size=32, max_length=2048, split_seed=1234, held_out=500
)


def built_in(choices: DataChoices) -> PreparedData:
    return prepare_data(BUILT_IN, renderer="qwen3_5", tokenizer=tokenizer_folder(), choices=choices)


def small(choices: DataChoices, *texts: str) -> PreparedData:
    chats = [
        Row(f"r{number}", (Message("user", text), Message("assistant", text)))
        for number, text in enumerate(texts)
    ]
    train = Dataset("here", "train", tuple(chats))
    return PreparedData(train, Dataset("here", "test", tuple(chats[:2])), RENDERER, choices)


def test_the_six_arm_rehearsal_has_its_rows() -> None:
    data = built_in(SIX)
    ids = [row_id for step in range(60) for row_id in data.train_ids(1, step)]
    expected = [f"rx-train-{number:05d}" for number in range(3840)]
    random.Random(1).shuffle(expected)
    assert ids == expected[:1920]
    assert data.items("search") == ()
    assert data.items("confirmation") == tuple(f"rx-test-{n:05d}" for n in range(300))


def test_the_twelve_arm_rehearsal_has_its_rows() -> None:
    data = built_in(TWELVE)
    expected = [f"rx-train-{number:05d}" for number in range(3840)]
    random.Random(1234).shuffle(expected)
    assert data.items("search") == tuple(expected[:500])
    assert len(data.items("confirmation")) == 500
    assert data.steps_available() >= 100
    for seed in (0, 1, 2):
        used = {row_id for step in range(100) for row_id in data.train_ids(seed, step)}
        assert len(used) == 3200
        assert used.isdisjoint(data.items("search"))


def test_a_batch_is_its_rows_rendered() -> None:
    data = built_in(SIX)
    by_id = {row["prompt_id"]: row_from(row).chat for row in rows("train")}
    expected = [RENDERER.render(by_id[row_id], 2048).datum for row_id in data.train_ids(2, 7)]
    batch = data.train_batch(2, 7)
    assert batch_digest(batch) == batch_digest(expected) == data.batch_digest(2, 7)
    assert data.schedule(2, 8)[7] == data.batch_digest(2, 7)
    assert len(set(data.schedule(2, 8))) == 8
    assert data.batch_digest(0, 7) != data.batch_digest(2, 7)


def test_two_preparations_agree_on_everything() -> None:
    one, two = built_in(TWELVE), built_in(TWELVE)
    assert one.manifest() == two.manifest()
    assert one.schedule(0, 3) == two.schedule(0, 3)
    assert one.order_sha256(0) == two.order_sha256(0) != one.order_sha256(1)
    assert batch_digest(one.fixed_batch(8)) == batch_digest(two.fixed_batch(8))


def test_items_are_scored_in_order_and_by_mask() -> None:
    data = built_in(TWELVE)
    for kind, split in (("search", "train"), ("confirmation", "test")):
        by_id = {row["prompt_id"]: row_from(row).chat for row in rows(split)}
        ids = data.items(kind)
        whole = [*data.eval_batch(kind, 0, 300), *data.eval_batch(kind, 300, 999)]
        assert len(whole) == len(ids) == 500
        expected = [RENDERER.render(by_id[row_id], 2048).datum for row_id in ids]
        assert batch_digest(whole) == batch_digest(expected)
        assert all(set(np.unique(datum.weights)) <= {0.0, 1.0} for datum in whole)


def test_a_row_is_rendered_once_and_cannot_be_changed() -> None:
    class Counting:
        provenance, control_tokens = RENDERER.provenance, RENDERER.control_tokens
        calls = 0

        def render(self, chat: tuple[Message, ...], max_length: int | None) -> Rendered:
            self.calls += 1
            return RENDERER.render(chat, max_length)

    renderer = Counting()
    source = built_in(SIX)
    data = PreparedData(source.train, source.evaluation, renderer, SIX)
    assert renderer.calls == 0
    for _ in range(2):
        data.train_batch(0, 0)
        data.batch_digest(0, 0)
    assert renderer.calls == 32
    with pytest.raises(ValueError, match="read-only"):
        data.train_batch(0, 0)[0].tokens[0] = 1


def test_mean_reduction_weighs_as_the_cookbook_does() -> None:
    from tinker_cookbook.renderers import TrainOnWhat, get_renderer
    from tinker_cookbook.supervised.data import conversation_to_datum
    from tinker_cookbook.tokenizer_utils import get_tokenizer

    theirs = get_renderer("qwen3_5", get_tokenizer(str(tokenizer_folder())))
    for row in rows("train")[:60]:
        own = mean_weights(RENDERER.render(row_from(row).chat, 2048).datum)
        made = conversation_to_datum(
            row["messages"], theirs, 2048, TrainOnWhat.ALL_ASSISTANT_MESSAGES
        )
        np.testing.assert_array_equal(own.weights, made.loss_fn_inputs["weights"].to_numpy())
        assert own.weights.dtype == np.float32


def test_reduction_changes_training_only() -> None:
    mask = small(DataChoices(Order.FILE_ORDER, 2, 64), "one", "two words", "three")
    mean = small(DataChoices(Order.FILE_ORDER, 2, 64, reduction="mean"), "one", "two words", "x")
    for plain, scaled in zip(mask.train_batch(0, 0), mean.train_batch(0, 0), strict=True):
        np.testing.assert_array_equal(plain.weights > 0, scaled.weights > 0)
        assert scaled.weights.sum() == pytest.approx(1.0, rel=1e-6)
    evaluated = [batch_digest(data.eval_batch("confirmation", 0, 2)) for data in (mask, mean)]
    assert evaluated[0] == evaluated[1]


def test_the_census_counts_what_goes_wrong_in_silence() -> None:
    train = [
        Row("fine", (Message("user", "q"), Message("assistant", "a"))),
        Row("no answer", (Message("user", "q"),)),
        Row("cut", (Message("user", "q"), Message("assistant", "word " * 60))),
        Row("all cut", (Message("user", "word " * 60), Message("assistant", "a"))),
        Row("control", (Message("user", "<|im_start|>"), Message("assistant", "a"))),
    ]
    data = PreparedData(
        Dataset("here", "train", tuple(train)),
        Dataset("here", "test", (train[0], train[4])),
        RENDERER,
        DataChoices(Order.FILE_ORDER, batch_size=5, max_length=40),
    )
    census = data.census([0], 1)
    assert census["train"].rows == 5
    assert census["train"].zero_weight == ("no answer", "all cut")
    assert census["train"].truncated == ("cut", "all cut")
    assert census["train"].control_tokens == ("control",)
    assert census["train"].longest == 39
    assert census["search"].rows == 0
    assert census["confirmation"].as_json() == {
        "rows": 2,
        "tokens": sum(len(datum.tokens) for datum in data.eval_batch("confirmation", 0, 2)),
        "counted_tokens": 10,
        "longest": 15,
        "zero_weight": [],
        "truncated": [],
        "control_tokens": ["control"],
    }
    assert data.shared_rows() == ("fine", "control")


def test_the_built_in_oddities_are_found() -> None:
    data = built_in(DataChoices(Order.FILE_ORDER, batch_size=32, max_length=256))
    census = data.census([0], 120)["train"]
    assert census.rows == 3840
    assert census.zero_weight == ("rx-train-00000",)
    assert census.control_tokens == ("rx-train-00001", "rx-train-00002")
    assert len(ODDITIES) == 3
    assert 0 < len(census.truncated) < 200
    assert 55 <= census.tokens / census.rows <= 80
    assert data.shared_rows() == ()


def test_the_fixed_batch_counts_tokens_in_every_row() -> None:
    data = built_in(SIX)
    batch = data.fixed_batch(4)
    assert len(batch) == 4
    assert all(datum.weights.any() for datum in batch)
    first = RENDERER.render(row_from(rows("train")[1]).chat, 2048).datum
    assert batch_digest(batch[:1]) == batch_digest([first])
    with pytest.raises(UsageError, match="only 2"):
        small(DataChoices(Order.FILE_ORDER, 1, 64), "a", "b").fixed_batch(3)


def test_the_manifest_holds_ids_and_digests_but_no_text() -> None:
    data = built_in(TWELVE)
    text = json.dumps(data.manifest())
    contents = {m["content"] for row in rows("test") for m in row["messages"]}
    assert not any(content in text for content in contents if len(content) > 20)
    manifest = json.loads(text)
    assert manifest["train"]["rows"][5] == ["rx-train-00005", data.train.rows[5].sha256]
    assert manifest["evaluation"]["rows_sha256"] == data.evaluation.rows_sha256
    assert manifest["search"] == list(data.items("search"))
    assert manifest["choices"]["split_seed"] == 1234
    assert manifest["renderer"]["implementation"] == "rx_tools"


def test_what_cannot_be_prepared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="501"):
        built_in(DataChoices(Order.FILE_ORDER, 32, 2048, eval_first=501))
    with pytest.raises(UsageError, match="step 120"):
        built_in(SIX).train_batch(0, 120)
    (tmp_path / "one.jsonl").write_bytes(b"")
    with pytest.raises(UsageError, match="one file"):
        prepare_data(
            tmp_path / "one.jsonl", renderer="qwen3_5", tokenizer=tokenizer_folder(), choices=SIX
        )
    with pytest.raises(DocumentError, match="here train row r0"):
        small(DataChoices(Order.FILE_ORDER, 1, 1), "a").train_batch(0, 0)


def planned(**changes: object) -> PreparedData:
    data = {
        "source": "hub",
        "hf_path": BUILT_IN,
        "train_split": "train",
        "eval_split": "test",
        "order": "split_then_shuffle",
        "split_seed": 1234,
        "held_out": 500,
        "n_train": 3200,
        "n_eval": 500,
    }
    evaluation = {
        "renderer": "qwen3_5",
        "train_on_what": changes.pop("train_on_what", "all_assistant_messages"),
        "max_length": 2048,
    }
    return planned_data(data | changes, evaluation, batch_size=32, tokenizer=tokenizer_folder())


def test_a_plan_document_is_enough_to_prepare() -> None:
    assert planned().manifest() == built_in(replace(TWELVE, eval_first=500)).manifest()
    assert len(planned(n_eval=300).items("confirmation")) == 300
    with pytest.raises(UsageError, match="3360 rows; 3328"):
        planned(n_train=3360)
    with pytest.raises(UsageError, match="last_assistant_message"):
        planned(train_on_what="last_assistant_message")

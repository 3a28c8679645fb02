"""Items without a counted token: nothing in a token mean, no part of an example mean."""

import json

import pytest

from rx_tools.local.assets import tokenizer_folder
from rx_tools.runner.data.planned_data import planned_data

CHATS = [
    {"prompt_id": f"row-{n}", "messages": [{"role": "user", "content": "hi"}, *answer]}
    for n, answer in enumerate(
        [[{"role": "assistant", "content": "yes"}], [], [{"role": "assistant", "content": "no"}]]
    )
]
DATA = {
    "train_split": "train",
    "eval_split": "test",
    "order": "file_order",
    "split_seed": None,
    "held_out": 0,
    "n_train": 3,
    "n_eval": 3,
}
EVALUATION = {"renderer": "qwen3_5", "train_on_what": "all_assistant_messages", "max_length": 64}


@pytest.mark.parametrize(
    ("aggregation", "items"),
    [("token_mean", ("row-0", "row-1", "row-2")), ("example_mean", ("row-0", "row-2"))],
)
def test_which_items_are_scored(aggregation, items, tmp_path):
    for split in ("train", "test"):
        rows = "".join(json.dumps(chat) + "\n" for chat in CHATS)
        (tmp_path / f"{split}.jsonl").write_text(rows)
    prepared = planned_data(
        DATA | {"hf_path": str(tmp_path)},
        EVALUATION | {"aggregation": aggregation},
        batch_size=1,
        tokenizer=tokenizer_folder(),
    )
    assert prepared.items("confirmation") == items
    assert len(prepared.eval_batch("confirmation", 0, 3)) == len(items)

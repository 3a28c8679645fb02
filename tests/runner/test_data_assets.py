"""The built-in chats and tokenizer: fixed bytes, and the properties that a rehearsal needs."""

import json
from hashlib import sha256
from pathlib import Path

from tokenizers import Tokenizer

from rx_tools.local.assets import chats_bytes, chats_file, hub_folder, tokenizer_folder
from rx_tools.local.assets.build import build
from rx_tools.local.assets.chats import ODDITIES, rows

TRAIN_SHA256 = "9a21eee8c8bcfccf4b056230610f3381ee0630fd2639ebbde86d941a47f83917"
TEST_SHA256 = "54d70babf217f8ec6f319c1ecec6f8852f242663c8c140539949e8377888669b"


def test_the_chats_are_the_same_bytes_everywhere() -> None:
    assert sha256(chats_bytes("train")).hexdigest() == TRAIN_SHA256
    assert sha256(chats_bytes("test")).hexdigest() == TEST_SHA256


def test_the_tokenizer_is_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    build(tmp_path)
    shipped = tokenizer_folder()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / name).read_bytes() == (shipped / name).read_bytes()


def test_the_tokenizer_knows_control_tokens_and_every_byte() -> None:
    tokenizer = Tokenizer.from_file(str(tokenizer_folder() / "tokenizer.json"))
    assert tokenizer.get_vocab_size() == 2048
    for token in ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</tool_response>"):
        assert len(tokenizer.encode(token).ids) == 1
    assert tokenizer.decode(tokenizer.encode("<|im_end|>").ids) == ""
    assert tokenizer.decode(tokenizer.encode("<think>").ids) == "<think>"
    text = "žluťoučký kůň 🐎 \u2028 \x00 日本"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.encode("e\u0301").ids == tokenizer.encode("é").ids


def test_enough_distinct_rows_for_both_rehearsals() -> None:
    train, test = rows("train"), rows("test")
    assert len(train) >= 500 + 100 * 32
    assert len(test) == 500
    texts = {json.dumps(row["messages"]) for row in (*train, *test)}
    assert len(texts) == len(train) + len(test)
    assert len({row["prompt_id"] for row in (*train, *test)}) == len(texts)


def test_the_chats_have_the_promised_shapes() -> None:
    tokenizer = Tokenizer.from_file(str(tokenizer_folder() / "tokenizer.json"))
    lengths = [
        sum(len(tokenizer.encode(message["content"]).ids) + 5 for message in row["messages"])
        for row in rows("train")
    ]
    roles = [tuple(message["role"] for message in row["messages"]) for row in rows("train")]
    assert 50 <= sum(lengths) / len(lengths) <= 75
    assert 400 <= max(lengths) <= 600
    assert sum(row.count("user") > 1 for row in roles) > 300
    assert sum(row[0] == "system" for row in roles) > 100
    assert [row["messages"] for row in rows("train")[:3]] == list(ODDITIES)
    assert all("assistant" in row for row in roles[1:])


def test_files_hold_the_chats_in_both_layouts(tmp_path: Path) -> None:
    first = chats_file("test", tmp_path / "new")
    assert first.read_bytes() == chats_bytes("test")
    first.write_bytes(b"damaged")
    assert chats_file("test", tmp_path / "new").read_bytes() == chats_bytes("test")
    data = hub_folder(tmp_path / "hub") / "data"
    assert sorted(path.name for path in data.iterdir()) == [
        "test-00000-of-00001.jsonl",
        "train-00000-of-00001.jsonl",
    ]
    assert (data / "train-00000-of-00001.jsonl").read_bytes() == chats_bytes("train")

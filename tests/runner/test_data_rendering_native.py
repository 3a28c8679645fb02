"""The built-in renderer against a native one, with the real tokenizer of Qwen3.5."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest
from tml_renderers import chat as native
from tml_renderers import renderers

from rx_tools.local.assets.chats import rows
from rx_tools.runner.data.chats import row_from
from rx_tools.runner.data.rendering import PREFILL, pieces

NATIVE = {
    "qwen3_5": renderers.Qwen35(),
    "qwen3_5_disable_thinking": renderers.Qwen35.disable_thinking(),
}
MARKS = {
    "<|im_start|>": "im_start",
    "<|im_end|>": "im_end",
    "<think>": "<think>",
    "</think>": "</think>",
}
SPLIT = re.compile("(" + "|".join(map(re.escape, MARKS)) + ")")


def encode(tokenizer: Any, text: str) -> list[int]:
    tokens: list[int] = []
    for part in filter(None, SPLIT.split(text)):
        mark = MARKS.get(part)
        tokens += [tokenizer.encode_special(mark)] if mark else tokenizer.encode_ordinary(part)
    return tokens


def rendered_here(messages: list[dict[str, str]], name: str) -> tuple[list[int], list[int]]:
    """Tokens, and for each the number of its trained piece (0: not trained)."""
    tokens: list[int] = []
    turns: list[int] = []
    turn, tokenizer = 0, NATIVE[name].tokenizer
    for piece in pieces(row_from({"messages": messages}).chat, PREFILL[name]):
        turn += not piece.trained
        ids = encode(tokenizer, piece.text)
        tokens += ids
        turns += [turn if piece.trained else 0] * len(ids)
    return tokens, turns


@pytest.mark.parametrize("name", PREFILL)
def test_tokens_and_weights_equal_the_native_renderers(name: str) -> None:
    """It makes one example of each answer; the last one shows the whole chat."""
    example = files("tinker_cookbook").joinpath("example_data/conversations.jsonl")
    lines = example.read_text("utf-8").split("\n")
    chats = [json.loads(line)["messages"] for line in lines if line]
    chats += [row["messages"] for row in rows("train")[3:300]]
    several = 0
    for messages in chats:
        examples = NATIVE[name].render_for_sft(
            [native.OpenAIMessage.from_oss_dict(message) for message in messages]
        )
        whole = examples[-1]
        expected = [token for span in whole.input_token_spans for token in span.span.tokens]
        tokens, turns = rendered_here(messages, name)
        last = max(turns)
        assert tokens == expected
        assert [turn == last for turn in turns] == [
            weight > 0 for weight in whole.per_token_loss_weight_unshifted
        ]
        assert len(examples) == len({turn for turn in turns if turn})
        several += len(examples) > 1
    assert len(chats) == 425
    assert several == 38

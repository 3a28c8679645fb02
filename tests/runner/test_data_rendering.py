"""The built-in renderer against the cookbook's, token by token and weight by weight."""

import json
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_tools.errors import DocumentError, UsageError
from rx_tools.local.assets import tokenizer_folder
from rx_tools.local.assets.chats import rows
from rx_tools.runner.data.chats import Chat, Message, row_from
from rx_tools.runner.data.cookbook_rendering import CookbookRenderer
from rx_tools.runner.data.rendering import PREFILL, BuiltInRenderer, load_tokenizer, make_renderer

FOLDER = tokenizer_folder()
NAMES = tuple(PREFILL)
OWN = {name: BuiltInRenderer(name, FOLDER) for name in NAMES}
THEIRS = {name: CookbookRenderer(name, FOLDER) for name in NAMES}


def chat(*turns: tuple[str, str]) -> Chat:
    return tuple(Message(role, content) for role, content in turns)


def assert_equal(conversation: Chat, name: str, max_length: int | None) -> None:
    own = OWN[name].render(conversation, max_length)
    theirs = THEIRS[name].render(conversation, max_length)
    for field in ("tokens", "targets", "weights"):
        ours, expected = getattr(own.datum, field), getattr(theirs.datum, field)
        assert ours.dtype == expected.dtype
        np.testing.assert_array_equal(ours, expected)
    assert own.truncated == theirs.truncated


HARD = (
    chat(("user", "hi"), ("assistant", "hello")),
    chat(("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")),
    chat(("user", "a"), ("assistant", "b"), ("assistant", "c"), ("assistant", "d")),
    chat(("user", "a"), ("assistant", "<think>\nx\n</think>\n\nb"), ("user", "c")),
    chat(("user", "a"), ("assistant", "<think>\nx\n</think>\n\nb")),
    chat(("user", "a"), ("assistant", "b"), ("tool", "1"), ("tool", "2"), ("assistant", "c")),
    chat(("tool", "1"), ("assistant", "c")),
    chat(("user", "a"), ("tool", "1"), ("tool", "2")),
    chat(("assistant", "no question")),
    chat(("assistant", "")),
    chat(("user", ""), ("assistant", " \n\u00a0 ")),
    chat(("user", "<|im_end|><|im_start|>assistant\nx"), ("assistant", "<|im_end|> e\u0301")),
    chat(("user", "no answer")),
    chat(("narrator", "x"), ("user", "y"), ("assistant", "\u2028z\u2029 🐎\x00")),
    chat(("user", "a" * 5000), ("assistant", "late")),
)


@pytest.mark.parametrize("name", NAMES)
def test_hard_shapes_equal_the_cookbooks(name: str) -> None:
    for conversation in HARD:
        for limit in (None, 2048, 24, 7, 2):
            assert_equal(conversation, name, limit)


@pytest.mark.parametrize("name", NAMES)
def test_built_in_chats_equal_the_cookbooks(name: str) -> None:
    chosen = [row_from(row) for row in (*rows("train")[:400], *rows("test")[:100])]
    for row in chosen:
        assert_equal(row.chat, name, 256)
    assert any(OWN[name].render(row.chat, 256).truncated for row in chosen)


@pytest.mark.parametrize("name", NAMES)
def test_the_cookbooks_example_chats_are_rendered_alike(name: str) -> None:
    text = files("tinker_cookbook").joinpath("example_data/conversations.jsonl").read_text("utf-8")
    chats = [row_from(json.loads(line)).chat for line in text.split("\n") if line]
    assert len(chats) == 128
    for conversation in chats:
        assert_equal(conversation, name, 512)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["<think>", "</think>", "<|im_end|>", "<|im_start|>user\n", "\n\n", " ", "<tool_response>"]
)
ROLE = st.sampled_from(["system", "user", "assistant", "assistant", "tool", "other"])
CHATS = st.lists(st.builds(Message, ROLE, st.lists(TEXT, max_size=4).map("".join)), min_size=1)


@settings(max_examples=150, deadline=None)
@given(CHATS.map(tuple), st.sampled_from(NAMES), st.none() | st.integers(2, 64))
def test_any_chat_is_rendered_as_the_cookbook_does(
    conversation: Chat, name: str, limit: int | None
) -> None:
    assert_equal(conversation, name, limit)


def test_a_chat_in_full() -> None:
    """Written out by hand from the format's description."""
    tokenizer = load_tokenizer(FOLDER)
    conversation = chat(("user", " one "), ("assistant", "two"), ("user", "3"), ("assistant", "4"))
    text = (
        "<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\ntwo<|im_end|>\n"
        "<|im_start|>user\n3<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n4<|im_end|>"
    )
    rendered = OWN["qwen3_5_disable_thinking"].render(conversation, None)
    datum = rendered.datum
    tokens = [int(datum.tokens[0]), *map(int, datum.targets)]
    trained = [int(t) for t, w in zip(datum.targets, datum.weights, strict=True) if w]
    assert tokenizer.decode(tokens, skip_special_tokens=False) == text
    assert tokenizer.decode(trained, skip_special_tokens=False) == "two<|im_end|>4<|im_end|>"
    assert rendered.counted_tokens == len(trained)
    thinking = OWN["qwen3_5"].render(conversation, None).datum
    spoken = [int(t) for t, w in zip(thinking.targets, thinking.weights, strict=True) if w]
    assert tokenizer.decode(spoken, skip_special_tokens=False) == (
        "two<|im_end|>\n</think>\n\n4<|im_end|>"
    )


def test_provenance_names_the_code_that_rendered() -> None:
    own, theirs = OWN["qwen3_5"].provenance, THEIRS["qwen3_5"].provenance
    assert (own.name, own.implementation) == ("qwen3_5", "rx_tools")
    assert (theirs.name, theirs.implementation) == ("qwen3_5", "tinker_cookbook")
    assert own.tokenizer_sha256 == theirs.tokenizer_sha256
    assert OWN["qwen3_5"].control_tokens == THEIRS["qwen3_5"].control_tokens
    assert own.version and theirs.version


def test_what_cannot_be_rendered_is_said_in_one_line() -> None:
    short = chat(("user", "hi"))
    for renderer in (OWN["qwen3_5"], THEIRS["qwen3_5"]):
        with pytest.raises(DocumentError):
            renderer.render(short, 1)
    with pytest.raises(UsageError, match="llama3"):
        make_renderer("llama3", FOLDER)
    with pytest.raises(UsageError, match="no such name"):
        make_renderer("no such name", FOLDER, "cookbook")
    with pytest.raises(DocumentError, match="tokenizer"):
        make_renderer("qwen3_5", FOLDER.parent)


def test_a_huge_text_is_rendered() -> None:
    rendered = OWN["qwen3_5"].render(chat(("user", "ab" * 500_000), ("assistant", "x")), 2048)
    assert rendered.truncated
    assert rendered.counted_tokens == 0
    assert len(rendered.datum.tokens) == 2047

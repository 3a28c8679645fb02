"""Reading chats: every source gives the same rows, and every refusal names its place."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import datasets
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rx_tools.errors import DocumentError, RxError, UsageError
from rx_tools.local.assets import chats_bytes, chats_file, hub_folder
from rx_tools.runner.data.chats import chat_digest, row_from
from rx_tools.runner.data.rows import distinct, jsonl_rows
from rx_tools.runner.data.sources import BUILT_IN, load_split, rows_digest

ROOT = Path(__file__).parents[2]


def line(content: str = "hi", **more: object) -> bytes:
    row = {"messages": [{"role": "user", "content": content}], **more}
    return json.dumps(row, ensure_ascii=False).encode()


def read(content: bytes) -> list[str]:
    return [row.row_id for row in jsonl_rows(content, "rows.jsonl")]


def test_all_local_sources_give_the_same_rows(tmp_path: Path) -> None:
    hub_folder(tmp_path / "jsonl")
    (tmp_path / "parquet" / "data").mkdir(parents=True)
    table = datasets.load_dataset(str(tmp_path / "jsonl"), split="test", cache_dir=str(tmp_path))
    table.to_parquet(tmp_path / "parquet" / "data" / "test-00000-of-00001.parquet")
    built_in = load_split(BUILT_IN, "test")
    assert len(built_in.rows) == 500
    assert built_in.files == {"test.jsonl": sha256(chats_bytes("test")).hexdigest()}
    others = [tmp_path / "jsonl", tmp_path / "parquet", chats_file("test", tmp_path)]
    for source in others:
        assert load_split(source, "test").rows == built_in.rows
        assert load_split(source, "test").rows_sha256 == built_in.rows_sha256
    by_library = [row_from(row) for row in table]
    assert rows_digest(by_library) == built_in.rows_sha256


def test_several_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for number in (1, 0):
        name = f"train-0000{number}-of-00002.jsonl"
        (tmp_path / "data" / name).write_bytes(line(prompt_id=f"row {number}") + b"\n")
    dataset = load_split(tmp_path, "train")
    assert [row.row_id for row in dataset.rows] == ["row 0", "row 1"]
    assert list(dataset.files) == ["train-00000-of-00002.jsonl", "train-00001-of-00002.jsonl"]


def test_only_a_line_feed_ends_a_line() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\r"
    content = line(text, prompt_id="one") + b"\r\n" + line(prompt_id="two")
    rows = list(jsonl_rows(content, "rows.jsonl"))
    assert rows[0].chat[0].content == text
    assert [row.row_id for row in rows] == ["one", "two"]


REFUSED = {
    "not JSON": b"{",
    "an empty line": b" ",
    "duplicate key": b'{"messages": [], "messages": []}',
    "finite": b'{"messages": [], "score": 1e999}',
    "NaN": b'{"messages": [], "score": NaN}',
    "byte-order": b"\xef\xbb\xbf" + line(),
    "UTF-8": b'{"messages": "\xff"}',
    "surrogate": b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
    "object": b"[]",
    "non-empty list": b'{"messages": []}',
    "`messages`": b'{"text": "x"}',
    "messages[0] must": b'{"messages": ["x"]}',
    "role": b'{"messages": [{"role": "", "content": "x"}]}',
    "content must": b'{"messages": [{"role": "user", "content": null}]}',
    "tool_calls": b'{"messages": [{"role": "assistant", "content": "", "tool_calls": []}]}',
    "trainable": b'{"messages": [{"role": "user", "content": "", "trainable": false}]}',
    "prompt_id": line(prompt_id=3),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refused_line_is_named(reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(line() + b"\n" + line() + b"\n" + REFUSED[reason] + b"\n" + line())
    assert str(caught.value).startswith("rows.jsonl:3")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_null_marks_and_other_columns_are_left_alone() -> None:
    message = {"role": "user", "content": "x", "tool_calls": None, "name": "Ada"}
    row = row_from({"messages": [message], "category": "Chat", "prompt_id": None})
    assert row.chat[0].content == "x"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["messages", "role", "content", "prompt_id"]) | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(st.binary(max_size=30) | JSON.map(lambda v: json.dumps(v).encode()), max_size=4))
@example([b""])
def test_whatever_the_bytes_either_rows_or_one_line(lines: list[bytes]) -> None:
    try:
        rows = list(jsonl_rows(b"\n".join(lines), "rows.jsonl"))
    except RxError as error:
        assert str(error).startswith("rows.jsonl:")
        assert "\n" not in str(error)
    else:
        assert all(row.chat for row in rows)


WORDS = st.text(st.characters(exclude_categories=["Cs"]))
TURNS = st.lists(
    st.fixed_dictionaries({"role": WORDS.filter(bool), "content": WORDS}), min_size=1, max_size=4
)


@given(st.lists(TURNS, min_size=1, max_size=4), st.booleans())
def test_what_was_written_is_read_back(chats: list[list[dict[str, str]]], ascii_only: bool) -> None:
    content = b"\n".join(
        json.dumps({"messages": chat}, ensure_ascii=ascii_only).encode() for chat in chats
    )
    rows = list(distinct(jsonl_rows(content, "rows.jsonl")))
    assert [[{"role": m.role, "content": m.content} for m in row.chat] for row in rows] == chats
    assert len({row.row_id for row in rows}) == len(rows)


def test_ids_are_the_given_ones_else_the_digest_of_the_messages() -> None:
    canonical = b'[{"content":"h\\u00e9","role":"user"}]'
    (given_id, no_id) = jsonl_rows(line("hé", prompt_id="p") + b"\n" + line("hé"), "rows.jsonl")
    assert given_id.row_id == "p"
    assert no_id.row_id == sha256(canonical).hexdigest()
    assert given_id.sha256 == no_id.sha256 == chat_digest(no_id.chat)


def test_repeated_ids_are_told_apart() -> None:
    content = b"\n".join(line(prompt_id=name) for name in ("a", "b", "a", "a", "a#2"))
    rows = list(distinct(jsonl_rows(content, "rows.jsonl")))
    assert [row.row_id for row in rows] == ["a", "b", "a#2", "a#3", "a#2#2"]


def test_the_rows_digest_is_of_ids_and_digests_in_order() -> None:
    rows = list(jsonl_rows(line(prompt_id="a") + b"\n" + line("x", prompt_id="b"), "rows.jsonl"))
    text = "".join(f'["{row.row_id}","{row.sha256}"]\n' for row in rows)
    assert rows_digest(rows) == sha256(text.encode()).hexdigest()
    assert rows_digest(rows[::-1]) != rows_digest(rows)


def test_missing_places_are_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load_split(tmp_path / "none.jsonl", "train")
    with pytest.raises(DocumentError, match="no files of the split 'train'"):
        load_split(tmp_path, "train")
    with pytest.raises(UsageError, match="no split"):
        load_split(BUILT_IN, "validation")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with pytest.raises(DocumentError, match="no rows"):
        load_split(tmp_path / "empty.jsonl", "train")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DocumentError, match="parquet"):
        load_split(tmp_path / "bad.parquet", "train")


def test_an_unreachable_hub_is_said_in_one_line(tmp_path: Path) -> None:
    script = (
        "from rx_tools.errors import ServiceError\n"
        "from rx_tools.runner.data.sources import load_split\n"
        "try:\n    load_split('somebody/nothing', 'train')\n"
        "except ServiceError as error:\n    print(error)\n"
    )
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=offline, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("somebody/nothing: the hub gives no split 'train': ")
    assert done.stdout.count("\n") == 1

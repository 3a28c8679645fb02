import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rx_tools.checks.deciding.observation_rows import MAX_BYTES
from rx_tools.errors import DocumentError, IntegrityError
from rx_tools.evidence.observations import (
    cross_check,
    observation_rows,
    read_observation_file,
    shard,
    token_mean_values,
    within_limits,
)

NLL, TOKENS = [6.0, 1.0, 30.0, 0.0], [3, 2, 20, 0]


def test_the_plain_mean_of_the_values_is_the_token_mean_and_not_the_example_mean():
    values = token_mean_values(NLL, TOKENS)
    assert math.fsum(values) / 4 == pytest.approx(37 / 25, rel=1e-15)
    cross_check("a", values, 37 / 25)


def test_a_mean_off_by_more_than_1e_12_is_caught():
    values = token_mean_values(NLL, TOKENS)
    with pytest.raises(IntegrityError, match="loss record says"):
        cross_check("a", values, 37 / 25 * (1 + 3e-12))
    with pytest.raises(IntegrityError):
        cross_check("a", [], math.nan)


def test_no_counted_token_has_no_mean():
    with pytest.raises(DocumentError):
        token_mean_values([0.0], [0])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.data())
def test_shards_have_the_same_plain_mean(values, data):
    shards = data.draw(st.integers(1, len(values)))
    named = {f"item:{index}": value for index, value in enumerate(values)}
    fewer = shard(named, shards)
    assert len(fewer) == shards
    mean = math.fsum(values) / len(values)
    assert math.fsum(fewer.values()) / shards == pytest.approx(mean, rel=1e-12, abs=1e-6)


@pytest.mark.parametrize("shards", [0, 5])
def test_impossible_shards(shards):
    with pytest.raises(DocumentError):
        shard(dict.fromkeys("abcd", 1.0), shards)


def test_rows_are_written_and_read_back_unrounded(tmp_path):
    value = 0.1 + 0.2
    cells = {("baseline", 0): {"é\u2028": value}, ("treatment", 0): {"é\u2028": 1e-300}}
    data = within_limits(observation_rows(cells, "nll", "e" * 64), items=1, cells=2)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    read = read_observation_file(path)
    assert (read.issues, read.size) == ((), len(data))
    assert [row["value"] for _, row in read.rows.documents[0]] == [value, 1e-300]
    assert json.loads(data.split(b"\n")[0])["item_id"] == "é\u2028"


def test_a_value_that_is_not_finite_is_not_written():
    with pytest.raises(ValueError):
        list(observation_rows({("a", 0): {"i": math.nan}}, "nll", "e"))


def test_too_many_rows_are_refused_with_what_would_fit():
    with pytest.raises(DocumentError, match="20000 items x 6 cells = 120000 rows") as refused:
        within_limits([], items=20000, cells=6)
    assert "at most 16666 items" in refused.value.hint


def test_too_many_bytes_are_refused_with_what_would_fit():
    lines = [b"x" * 210 + b"\n"] * 60000
    with pytest.raises(DocumentError, match=f"{211 * 60000} bytes") as refused:
        within_limits(lines, items=10000, cells=6)
    fitting = int(refused.value.hint.split("at most ")[1].split(" ")[0])
    assert fitting * 6 * 211 <= MAX_BYTES < (fitting + 1) * 6 * 211

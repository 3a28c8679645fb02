"""The fast way through predictions never passes a file that the strict way would send back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_tools.checks.loss_items import read_items
from rx_tools.checks.prediction_rows import first_fault
from rx_tools.checks.prediction_rows_quick import Totals, is_faultless, typed_rows
from rx_tools.checks.rows import RowError, parse
from rx_tools.model.evidence import Evidence, EvidenceFile
from rx_tools.runner.arms.score_rows import jsonl

EVALUATOR = "e" * 64
ROW = {
    "item_id": "item-1",
    "arm": "a",
    "seed": 0,
    "checkpoint": None,
    "metric": "nll",
    "evaluator_id": EVALUATOR,
    "prediction": {"nll_sum": 1.5, "n_tokens": 3},
    "reference": {"datum_sha256": "ab"},
}


def strictly_faultless(content):
    try:
        rows = list(parse("rows.jsonl", content))
    except RowError:
        return False
    return bool(rows) and not list(first_fault("rows.jsonl", rows, {EVALUATOR}))


def quickly_faultless(content):
    return is_faultless(retained(content), "rows.jsonl", {EVALUATOR})


def retained(content):
    file = EvidenceFile.of_bytes("rows.jsonl", "predictions", content)
    return Evidence({file.name: file})


def line(**changes):
    return jsonl([ROW | changes])


def test_what_rx_writes_goes_the_fast_way():
    assert quickly_faultless(line() + line(item_id="item-2"))
    assert quickly_faultless(line(checkpoint="tinker://x/y", seed=None))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        line(item_id=""),
        line(item_id=" "),
        line(metric=" "),
        line(arm=None),
        line(evaluator_id="other"),
        line()[:-2] + b',"arm":"b"}\n',
        line().replace(b'"nll_sum":1.5', b'"nll_sum":1.5,"nll_sum":2.5'),
        line().replace(b"1.5", b"NaN"),
        line().replace(b"1.5", b"1e999"),
        line().replace(b'"item-1"', b'"item\\ud800"'),
        line().replace(b'"item-1"', b'"item\xff"'),
        line() + b"[]\n",
        line() + b"{}\n",
        line()[:-1] + line(item_id="item-2"),
        line().replace(b',"item_id"', b',\n"item_id"'),
    ],
)
def test_what_is_wrong_never_does(content):
    assert not quickly_faultless(content)
    assert not strictly_faultless(content)


def test_both_ways_give_the_same_totals():
    content = b"".join(
        line(item_id=f"item-{n}", arm=arm, prediction={"nll_sum": float(n), "n_tokens": n % 3})
        for arm in ("a", "b", "a")
        for n in range(4)
    )
    quick = read_items(retained(content), ["rows.jsonl"])
    spaced = content.replace(b'"arm":', b'"arm" :')
    slow = read_items(retained(spaced), ["rows.jsonl"])
    assert typed_rows(content) is not None
    assert typed_rows(spaced) is None
    assert quick == slow
    assert quick.arms["a"].totals["item-2"] == Totals(2, 2.0)
    assert quick.repeating == {"rows.jsonl": "holds an item of a twice"}


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([*ROW, "more"]), st.text() | st.integers() | st.none()))
def test_the_fast_way_implies_the_strict_one(changes):
    content = line(**changes)
    if quickly_faultless(content):
        assert strictly_faultless(content)

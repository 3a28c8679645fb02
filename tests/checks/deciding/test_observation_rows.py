"""Rows from bytes: the fast way and the slow way agree, and strictness is the same in both."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rx_tools
from rx_tools.checks.deciding.observation_rows import MAX_BYTES, ObservationRows

CASES = json.loads(Path("tests/fixtures/decision_cases.json").read_text())["cases"]
GOOD = next(case for case in CASES if case["id"] == "items_accuracy")
RULE, ROWS = GOOD["rule"], GOOD["observations"]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def replaced(old, new):
    """The good rows with a change in the third line."""
    changed = lines(ROWS).split(b"\n")
    assert old in changed[2]
    changed[2] = changed[2].replace(old, new)
    return b"\n".join(changed)


def decided(data):
    return rx_tools.decide(RULE, ObservationRows(data))


FORMS = {
    "lines": lines(ROWS),
    "no final newline": lines(ROWS).rstrip(b"\n"),
    "carriage returns": lines(ROWS).replace(b"\n", b"\r\n"),
    "blank lines": lines(ROWS).replace(b"\n", b"\n\n"),
    "array": json.dumps(ROWS).encode(),
    "indented array": json.dumps(ROWS, indent=1).encode(),
    "object": json.dumps({"observations": ROWS}).encode(),
    "indented object": json.dumps({"version": 1, "observations": ROWS}, indent=1).encode(),
    "spaced keys": lines(ROWS).replace(b'":', b'" :'),
    "item by item": lines(sorted(ROWS, key=lambda row: row["item_id"])),
    "backwards": lines(ROWS[::-1]),
    "more members": lines([{**row, "note": {"a": [1, "x:y"]}} for row in ROWS]),
    "colons in ids": lines([{**row, "item_id": "test:" + row["item_id"]} for row in ROWS]),
    "escaped colons": lines([{**row, "item_id": "a:" + row["item_id"]} for row in ROWS]).replace(
        b"a:", b"a\\u003a"
    ),
    "line separators": lines([{**row, "item_id": row["item_id"] + "\u2028"} for row in ROWS]),
    "raw line separators": json.dumps(
        [{**row, "item_id": row["item_id"] + "\u2028\u0085"} for row in ROWS], ensure_ascii=False
    ).encode(),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_allowed_form_decides_the_same(name):
    expected = rx_tools.decide(RULE, ROWS)
    decision = decided(FORMS[name])
    assert decision.issues == ()
    assert decision.criteria == expected.criteria


REFUSED = {
    "duplicate key": (b'"seed": 0', b'"seed": 0, "seed": 0', "line 3: duplicate key 'seed'"),
    "duplicate with spaces": (b'"seed": 0', b'"seed" : 0, "seed": 1', "duplicate key 'seed'"),
    "duplicate of another key": (b'"seed"', b'"margin":1, "margin":2, "seed"', "'margin'"),
    "NaN": (b'"value": 0', b'"value": NaN', "line 3: NaN is no JSON number"),
    "infinity": (b'"value": 0', b'"value": -Infinity', "line 3: -Infinity is no JSON number"),
    "1e400": (b'"value": 0', b'"value": 1e400', "line 3: 1e400 is too large"),
    "huge integer": (b'"value": 0', b'"value": 1' + b"0" * 400, "an integer of 401 digits"),
    "invalid UTF-8": (b"baseline", b"base\xffline", "line 3: invalid UTF-8"),
    "lone surrogate": (b"baseline", b"base\\ud800line", "line 3: a lone surrogate"),
    "trailing comma": (b"}", b",}", "line 3: not JSON"),
    "two values": (b"}", b"} {}", "line 3: not JSON: Extra data"),
    "deep nesting": (b'"value": 0', b'"value": ' + b"[" * 30000, "line 3: nested too deep"),
    "deep member": (
        b'"seed"',
        b'"note": ' + b"[" * 30000 + b"]" * 30000 + b', "seed"',
        "line 3: nested too deep",
    ),
    "single quotes": (b'"', b"'", "line 3: not JSON"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_two_readers_could_take_differently_is_refused(name):
    old, new, message = REFUSED[name]
    decision = decided(replaced(old, new))
    assert (decision.verdict, decision.outcome_reason) == ("inconclusive", "insufficient_evidence")
    assert {issue.name for issue in decision.issues} == {"OBSERVATIONS_UNREADABLE"}
    assert message in decision.issues[0]
    assert "\n" not in decision.issues[0]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (b'"seed": 0', b'"seed": 0.0', "OBS_SEED_TYPE"),
        (b'"seed": 0', b'"seed": true', "OBS_SEED_TYPE"),
        (b'"seed": 0', b'"seed": "0"', "OBS_SEED_TYPE"),
        (b'"seed": 0', b'"seed": 99999999999999999999', "EXTRA_SEED"),
        (b'"value": 0', b'"value": false', "NONFINITE_VALUE"),
        (b'"value": 0', b'"value": null', "NONFINITE_VALUE"),
        (b'"value": 0', b'"value": "0"', "NONFINITE_VALUE"),
        (b'"item_id": "q2"', b'"item_id": 2', "OBS_SCHEMA"),
        (b'"item_id": "q2"', b'"item_id": "q1"', "DUPLICATE_OBSERVATION"),
        (b'"item_id": "q2"', b'"item": "q2"', "OBS_SCHEMA"),
        (b"eee", b"fff", "EVALUATOR_MISMATCH"),
    ],
)
def test_a_row_of_the_wrong_shape_is_named_by_its_line(old, new, name):
    decision = decided(replaced(old, new))
    assert decision.verdict == "inconclusive"
    assert decision.issues[0].name == name
    assert decision.issues[0].place == "line 3"


@pytest.mark.parametrize(
    ("laid_out", "message"),
    [
        (lines(ROWS).replace(b"}\n{", b"} {", 1), "line 1: not JSON: Extra data"),
        (lines(ROWS).replace(b"}\n{", b"}{", 1) + b"\n", "line 1: not JSON: Extra data"),
        (lines(ROWS).replace(b", ", b",\n", 1), "line 1: not JSON"),
        (
            lines(ROWS).replace(b", ", b",\n", 1).replace(b"}\n{", b"} {", 1),
            "line 1: not JSON",
        ),
    ],
)
def test_a_row_has_a_line_and_a_line_has_a_row(laid_out, message):
    decision = decided(laid_out)
    assert decision.criteria == ()
    assert message in decision.issues[0]


def test_a_byte_order_mark_is_refused():
    assert "a byte-order mark" in decided(b"\xef\xbb\xbf" + lines(ROWS)).issues[0]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"[]", b'{"observations": []}'])
def test_no_rows_is_incomplete(data):
    decision = decided(data)
    assert (decision.verdict, decision.outcome_reason) == ("inconclusive", "incomplete_execution")


@pytest.mark.parametrize(
    "data",
    [
        b"null",
        b"3",
        b'"rows"',
        b'{"rows": []}',
        b"[1, 2]",
        b"{",
        b"[",
        b"[" * 20000,
        b'{"a":' * 20000,
    ],
)
def test_what_is_no_list_of_rows(data):
    decision = decided(data)
    assert (decision.verdict, decision.outcome_reason) == ("inconclusive", "insufficient_evidence")


def test_ten_mebibytes_and_one_byte_are_refused_with_the_arithmetic():
    data = lines(ROWS)
    assert decided(data + b" " * (MAX_BYTES - len(data))).issues == ()
    issue = decided(data + b" " * (MAX_BYTES - len(data) + 1)).issues[0]
    assert issue.name == "OBSERVATIONS_TOO_LARGE"
    assert "10485761 bytes, 1 more than the 10485760 allowed" in issue


def test_a_hundred_thousand_rows_and_one_are_refused():
    row = {"item_id": "", "arm": "b", "seed": 0, "metric": "m", "value": 0, "evaluator_id": "e"}
    short = json.dumps(row, separators=(",", ":")).encode() + b"\n"
    names = {issue.name for issue in ObservationRows(short * 100_001).issues}
    assert names == {"OBSERVATIONS_TOO_MANY"}
    assert ObservationRows(short * 100_000).issues == ()


texts = st.sampled_from(["baseline", "treatment", "accuracy", "q:0", "é", "", '"', "\\", "\u2028"])
values = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5)
row = st.fixed_dictionaries(
    {
        "item_id": texts,
        "arm": texts,
        "seed": st.integers(0, 2),
        "metric": texts,
        "value": values,
        "evaluator_id": texts,
    }
)


@given(st.lists(row, max_size=8), st.booleans())
def test_the_fast_way_reads_what_the_slow_way_reads(rows, ascii_only):
    data = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows).encode()
    fast = ObservationRows(data)
    assert [document for _, document in fast.documents[0]] == rows
    got, plain = rx_tools.decide(RULE, fast), rx_tools.decide(RULE, rows)
    assert [issue.name for issue in got.issues] == [issue.name for issue in plain.issues]
    assert got.criteria == plain.criteria


@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,01e \n', max_size=60).map(str.encode))
def test_no_bytes_raise(data):
    assert decided(data).verdict == "inconclusive"


def test_exact_means_of_a_full_file_equal_those_of_rationals():
    rows = [{**row, "value": math.sin(index) * 10 ** (index % 7)} for index, row in enumerate(ROWS)]
    typed = rx_tools.decide(RULE, ObservationRows(lines(rows)))
    assert typed.criteria == rx_tools.decide(RULE, rows).criteria

"""Sampling, agreement and overlap of generated tasks, against values worked out by hand."""

import hashlib

import pytest

import rx_tools
from rx_tools.checks.generation_audit import validate

TASKS = [
    {"item_id": name, "prompt": f"prompt {name}", "answer": "1", "disposition": "accepted"}
    for name in ("a", "b", "c", "d", "ü")
] + [{"item_id": "r", "prompt": "prompt r", "answer": "1", "disposition": "rejected"}]


def test_the_sample_is_ordered_by_the_digest_of_seed_and_item():
    texts = {name: f'[7, "{name}"]' for name in "abcd"} | {"ü": '[7, "\\u00fc"]'}
    order = sorted(texts, key=lambda name: hashlib.sha256(texts[name].encode()).hexdigest())
    sample = rx_tools.select_sample(TASKS, 3, 7)
    assert [task["item_id"] for task in sample] == order[:3]
    assert len(rx_tools.select_sample(TASKS, 100, 7)) == 5
    assert rx_tools.select_sample(TASKS, 0, 7) == []


AGREE = [
    ("1/2", "0.5"),
    (3, "3.0"),
    (0.1, "0.1"),
    ("1e3", 1000),
    ("-0", "0"),
    ("2/4", "1/2"),
    ("+7", 7),
]
DIFFER = [("1/3", "0.333333333333"), (1, 2), ("0.1", "0.10000000001")]
NO_NUMBERS = [
    ("1,000", 1000),
    (" 1", 1),
    ("1\n", 1),
    ("١", 1),
    ("1/0", 1),
    (True, 1),
    ("NaN", "NaN"),
    ("inf", "inf"),
    ("1e9999999", "1e9999999"),
    ("0x10", 16),
    ("1_0", 10),
    ([1], 1),
    (None, None),
    ("", ""),
]


@pytest.mark.parametrize(("label", "answer"), AGREE)
def test_equal_values_agree_however_they_are_written(label, answer):
    assert rx_tools.answer_agreement(label, answer, "numeric_exact") is True


@pytest.mark.parametrize(("label", "answer"), DIFFER)
def test_the_tolerance_is_zero(label, answer):
    assert rx_tools.answer_agreement(label, answer, "numeric_exact") is False


@pytest.mark.parametrize(("label", "answer"), NO_NUMBERS)
def test_what_is_no_strict_number_cannot_be_compared(label, answer):
    assert rx_tools.answer_agreement(label, answer, "numeric_exact") is None


@pytest.mark.parametrize(
    ("label", "answer", "agreement"),
    [
        ("Paris", "Paris", True),
        ("Paris", "paris", False),
        ("Paris", "Paris ", False),
        ("é", "e\u0301", False),
        ("", "", None),
        (1, "1", None),
    ],
)
def test_categories_agree_character_by_character(label, answer, agreement):
    assert rx_tools.answer_agreement(label, answer, "categorical_exact") is agreement


@pytest.mark.parametrize("strategy", [None, "", "fuzzy", "numeric", ["numeric_exact"]])
def test_no_other_strategy_says_anything(strategy):
    assert rx_tools.answer_agreement("1", "1", strategy) is None


@pytest.mark.parametrize(
    ("prompt", "overlaps"),
    [
        ("What  is\n2 + 2?", True),
        ("WHAT IS 2 + 2?", True),
        ("What is ２ + 2?", True),
        ("What is two plus two?", False),
        ("What is 2 + 2", False),
    ],
)
def test_overlap_ignores_form_case_and_white_space_only(prompt, overlaps):
    tasks = [{"item_id": "g", "prompt": prompt}]
    found = rx_tools.evaluation_overlap(tasks, [{"item_id": "e", "prompt": "what is 2 + 2?"}])
    assert found == (["g"] if overlaps else [])


def test_a_rejected_task_overlaps_nothing():
    evaluation = [{"item_id": "e", "prompt": "prompt r"}]
    assert rx_tools.evaluation_overlap(TASKS, evaluation) == []


def test_the_report_can_be_judged_before_any_record_exists():
    plan = {"answer_comparison": "categorical_exact"}
    answer = validate({}, plan, tasks=TASKS, evaluation=[])
    assert answer == {"status": "unverified", "reasons": ["Generation audit not recorded."]}

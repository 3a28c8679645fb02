"""What must hold of every decision, and intervals against scipy's paired t test."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import rx_tools

ASSUMED = {
    "independent_seed_effects": True,
    "identically_distributed_seed_effects": True,
    "normal_seed_effects": True,
}
values = st.floats(-1e3, 1e3).map(lambda value: round(value, 6))
pairs = st.lists(st.tuples(values, values), min_size=2, max_size=12)


def rule(n, margin=0.5, weights=None, alpha=0.05, k=1):
    return {
        "version": 1,
        "unit": "training_seed",
        "seeds": list(range(n)),
        "alpha": alpha,
        "method": "paired_t",
        "assumptions": ASSUMED,
        "criteria": [
            {
                "id": f"c{index}",
                "metric": f"m{index}",
                "weights": weights or {"a": 1, "b": -1},
                "margin": margin,
            }
            for index in range(k)
        ],
    }


def means(pairs, k=1):
    cells = {
        "a": {seed: left for seed, (left, _) in enumerate(pairs)},
        "b": {seed: right for seed, (_, right) in enumerate(pairs)},
    }
    return {f"m{index}": cells for index in range(k)}


@given(pairs, st.sampled_from([0.2, 0.05, 0.001]), st.sampled_from([1, 2, 5]))
def test_the_interval_is_scipys_paired_one(pairs, alpha, k):
    left, right = zip(*pairs, strict=True)
    assume(len({a - b for a, b in pairs}) > 1)
    decision = rx_tools.decide(rule(len(pairs), alpha=alpha, k=k), seed_means=means(pairs, k))
    expected = stats.ttest_rel(left, right).confidence_interval(1 - alpha / k)
    scale = max(abs(value) for pair in pairs for value in pair)
    found = decision.criteria[0]
    reach = max(scale, abs(expected.low), abs(expected.high))
    assert found.low == pytest.approx(expected.low, rel=1e-9, abs=1e-9 * reach)
    assert found.high == pytest.approx(expected.high, rel=1e-9, abs=1e-9 * reach)


@given(pairs, st.sampled_from([0.0, 0.5, -0.5, 100.0]))
def test_both_readings_follow_from_where_the_interval_lies(pairs, margin):
    decision = rx_tools.decide(rule(len(pairs), margin), seed_means=means(pairs))
    (criterion,) = decision.criteria
    guard = 1e-9 * (1 + abs(margin) + abs(criterion.low) + abs(criterion.high))
    ends = [
        abs(end - mark) for end in (criterion.low, criterion.high) for mark in (margin, -margin)
    ]
    assume(min(ends) > guard and not criterion.numerically_constant)
    if criterion.low > margin:
        expected = ("supported", "supported")
    elif margin > 0 and criterion.high < -margin:
        expected = ("refuted", "refuted")
    elif criterion.high < margin:
        within = margin > 0 and criterion.low >= -margin
        expected = ("refuted", "tie" if within else "open" if margin > 0 else "refuted")
    else:
        expected = ("open", "open")
    assert (criterion.reading_margin, criterion.reading_band) == expected
    assert decision.reading_conflict == (
        expected[0] != expected[1] and decision.margin_reading != decision.band_reading
    )
    definitive = expected[0] == expected[1] and expected[0] in ("supported", "refuted")
    assert (decision.verdict != "inconclusive") == definitive
    for reading, position in zip(("margin", "band"), expected, strict=True):
        frozen = rx_tools.decide(rule(len(pairs), margin), seed_means=means(pairs), reading=reading)
        assert not frozen.reading_conflict
        assert (frozen.verdict == position) == (position in ("supported", "refuted"))


@given(pairs, st.sampled_from([2.0, 0.25, 1024.0, 2.0**-40]))
def test_scaling_everything_by_a_power_of_two_changes_no_verdict(pairs, factor):
    scaled = [(a * factor, b * factor) for a, b in pairs]
    one = rx_tools.decide(rule(len(pairs), 0.5), seed_means=means(pairs))
    two = rx_tools.decide(rule(len(pairs), 0.5 * factor), seed_means=means(scaled))
    assert (one.verdict, one.outcome_reason) == (two.verdict, two.outcome_reason)
    assert two.criteria[0].low == one.criteria[0].low * factor


@given(pairs)
def test_a_refutation_is_a_support_the_other_way_round(pairs):
    forth = rx_tools.decide(rule(len(pairs), 0.0), seed_means=means(pairs))
    back = rx_tools.decide(rule(len(pairs), 0.0, {"a": -1, "b": 1}), seed_means=means(pairs))
    turned = {"supported": "refuted", "refuted": "supported", "inconclusive": "inconclusive"}
    assert back.verdict == turned[forth.verdict]
    assert back.criteria[0].low == -forth.criteria[0].high


@settings(max_examples=40)
@given(pairs, st.randoms())
def test_the_order_of_rows_changes_nothing(pairs, random):
    rows = [
        {
            "item_id": f"i{item}",
            "arm": role,
            "seed": seed,
            "metric": "m0",
            "value": value / (item + 3) + math.sqrt(item),
            "evaluator_id": "e",
        }
        for seed, pair in enumerate(pairs)
        for role, value in zip("ab", pair, strict=True)
        for item in range(3)
    ]
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert rx_tools.decide(rule(len(pairs)), rows) == rx_tools.decide(rule(len(pairs)), shuffled)


@given(pairs)
def test_a_second_criterion_only_widens_the_first(pairs):
    one = rx_tools.decide(rule(len(pairs)), seed_means=means(pairs)).criteria[0]
    two = rx_tools.decide(rule(len(pairs), k=2), seed_means=means(pairs, 2)).criteria[0]
    assert two.low <= one.low and one.high <= two.high


def test_the_frozen_reading_of_each_criterion_may_differ():
    k2 = rule(3, 0.02, k=2)
    data = means([(0.004549, 0.0), (0.003932, 0.0), (0.00534, 0.0)], 2)

    def decided(readings):
        decision = rx_tools.decide(k2, seed_means=data, reading=readings)
        return decision.verdict, decision.outcome_reason, decision.reading_conflict

    assert decided({"c0": "margin", "c1": "margin"}) == ("refuted", "refuted", False)
    assert decided({"c0": "margin", "c1": "band"}) == ("inconclusive", "mixed_criteria", False)
    assert decided({"c0": "margin"}) == ("inconclusive", "mixed_criteria", True)
    assert decided({}) == ("inconclusive", "tie", True)
    assert decided({"c0": "sideways"})[:2] == ("inconclusive", "insufficient_evidence")

"""Whatever is handed in: a verdict with issues, never an exception."""

import copy
import dataclasses
import json
import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rx_tools

CASES = json.loads(Path("tests/fixtures/decision_cases.json").read_text())["cases"]
GOOD = next(case for case in CASES if case["id"] == "items_accuracy")
RULE, ROWS = GOOD["rule"], GOOD["observations"]
INSUFFICIENT = ("inconclusive", "insufficient_evidence")
INCOMPLETE = ("inconclusive", "incomplete_execution")


def outcome(decision):
    return decision.verdict, decision.outcome_reason


def with_row(**changes):
    return [*ROWS[1:], {**ROWS[0], **changes}]


def names(decision):
    return {issue.name for issue in decision.issues}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"value": math.nan}, "NONFINITE_VALUE"),
        ({"value": math.inf}, "NONFINITE_VALUE"),
        ({"value": True}, "NONFINITE_VALUE"),
        ({"value": None}, "NONFINITE_VALUE"),
        ({"value": 10**400}, "NONFINITE_VALUE"),
        ({"value": [1]}, "NONFINITE_VALUE"),
        ({"seed": False}, "OBS_SEED_TYPE"),
        ({"seed": None}, "OBS_SEED_TYPE"),
        ({"seed": 3}, "EXTRA_SEED"),
        ({"seed": -1}, "EXTRA_SEED"),
        ({"item_id": ""}, "OBS_SCHEMA"),
        ({"item_id": ["q0"]}, "OBS_SCHEMA"),
        ({"evaluator_id": None}, "OBS_SCHEMA"),
        ({"evaluator_id": "f" * 64}, "EVALUATOR_MISMATCH"),
        ({"metric": None}, "OBS_SCHEMA"),
        ({"arm": 1}, "OBS_SCHEMA"),
        ({"item_id": "q1"}, "DUPLICATE_OBSERVATION"),
    ],
)
def test_a_bad_row_spoils_the_rows(changes, name):
    decision = rx_tools.decide(RULE, with_row(**changes))
    assert outcome(decision) == INSUFFICIENT
    assert name in names(decision)
    assert decision.criteria == ()


@pytest.mark.parametrize("changes", [{"value": math.nan}, {"seed": 7}, {"evaluator_id": "x"}])
def test_rows_of_another_role_are_left_aside(changes):
    decision = rx_tools.decide(RULE, [*ROWS, {**ROWS[0], "arm": "base", **changes}])
    assert outcome(decision) == ("supported", "supported")


def test_an_item_that_all_cells_but_one_hold_is_missing():
    decision = rx_tools.decide(RULE, ROWS[1:])
    assert outcome(decision) == INCOMPLETE
    assert names(decision) == {"MISSING_ITEM"}
    assert "lacks 1 items: 'q0'" in decision.issues[0]


def test_a_frozen_item_that_no_cell_holds_is_missing():
    frozen = [f"q{index}" for index in range(41)]
    decision = rx_tools.decide(RULE, ROWS, items=frozen)
    assert outcome(decision) == INCOMPLETE
    assert names(decision) == {"MISSING_ITEM"}
    assert outcome(rx_tools.decide(RULE, ROWS, items=frozen[:40])) == ("supported", "supported")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"alpha": 1}, "RULE_ALPHA"),
        ({"alpha": math.nan}, "RULE_ALPHA"),
        ({"alpha": "0.05"}, "RULE_ALPHA"),
        ({"alpha": True}, "RULE_ALPHA"),
        ({"alpha": None}, "RULE_ALPHA"),
        ({"unit": "item_seed"}, "RULE_UNIT"),
        ({"method": None}, "RULE_METHOD"),
        ({"method": "clopper_pearson"}, "RULE_METHOD"),
        ({"method": "mcnemar_exact"}, "RULE_METHOD"),
        ({"method": "hoeffding"}, "RULE_METHOD"),
        ({"version": 2}, "RULE_VERSION"),
        ({"version": True}, "RULE_VERSION"),
        ({"seeds": []}, "RULE_SEEDS"),
        ({"seeds": [0, 0, 1]}, "RULE_SEEDS"),
        ({"seeds": [0, False, 1]}, "RULE_SEEDS"),
        ({"seeds": [0, 1.0, 2]}, "RULE_SEEDS"),
        ({"seeds": "012"}, "RULE_SEEDS"),
        ({"assumptions": {}}, "RULE_ASSUMPTIONS"),
        ({"assumptions": {**RULE["assumptions"], "same_hardware": "yes"}}, "RULE_ASSUMPTIONS"),
        ({"assumptions": {**RULE["assumptions"], "normal_seed_effects": 1}}, "RULE_ASSUMPTIONS"),
        ({"criteria": []}, "RULE_SCHEMA"),
        ({"criteria": [1]}, "RULE_SCHEMA"),
        ({"criteria": [{**RULE["criteria"][0], "margin": math.inf}]}, "RULE_MARGIN"),
        ({"criteria": [{**RULE["criteria"][0], "margin": None}]}, "RULE_MARGIN"),
        ({"criteria": [{**RULE["criteria"][0], "weights": {"a": "1"}}]}, "RULE_WEIGHTS"),
        ({"criteria": [{**RULE["criteria"][0], "weights": {"a": math.nan}}]}, "RULE_WEIGHTS"),
        ({"criteria": [{**RULE["criteria"][0], "weights": {}}]}, "RULE_WEIGHTS"),
        ({"criteria": [{**RULE["criteria"][0], "metric": 3}]}, "RULE_SCHEMA"),
        ({"criteria": [{**RULE["criteria"][0], "id": None}]}, "RULE_CRITERIA_ID"),
    ],
)
def test_a_malformed_rule_decides_nothing(changes, name):
    decision = rx_tools.decide({**RULE, **changes}, ROWS)
    assert outcome(decision) == INSUFFICIENT
    assert names(decision) == {name}


@pytest.mark.parametrize("nothing", [None, 3, "rule", [], {}])
def test_no_rule_at_all(nothing):
    assert outcome(rx_tools.decide(nothing, ROWS)) == INSUFFICIENT


def test_exactly_one_source():
    assert names(rx_tools.decide(RULE)) == {"OBSERVATIONS_EXACTLY_ONE"}
    both = rx_tools.decide(RULE, ROWS, seed_means={})
    assert names(both) == {"OBSERVATIONS_EXACTLY_ONE"}


def test_one_seed_gives_no_interval():
    means = {"accuracy": {"baseline": {"0": 0.1}, "treatment": {"0": 0.9}}}
    decision = rx_tools.decide({**RULE, "seeds": [0]}, seed_means=means)
    assert outcome(decision) == INSUFFICIENT
    assert names(decision) == {"TOO_FEW_SEEDS"}
    assert decision.criteria[0].low is None


def test_seed_means_with_a_seed_stated_twice():
    means = {"accuracy": {"baseline": {0: 1, "0": 1, 1: 1, 2: 1}, "treatment": {0: 1, 1: 2, 2: 3}}}
    assert names(rx_tools.decide(RULE, seed_means=means)) == {"DUPLICATE_OBSERVATION"}


def test_every_effect_zero_asks_for_an_untreated_arm():
    means = {"accuracy": {role: {0: 0.5, 1: 0.25, 2: 0.75} for role in ("baseline", "treatment")}}
    decision = rx_tools.decide(RULE, seed_means=means)
    assert outcome(decision) == INSUFFICIENT
    assert "a treatment that was not applied" in decision.issues[0]


def test_an_interval_beyond_the_doubles_is_refused():
    means = {"accuracy": {"baseline": {0: -1.7e308, 1: -1.7e308, 2: -1.6e308}}}
    means["accuracy"]["treatment"] = {0: 1.7e308, 1: 1.7e308, 2: 1.5e308}
    decision = rx_tools.decide(RULE, seed_means=means)
    assert outcome(decision) == INSUFFICIENT
    assert names(decision) == {"NOT_REPRESENTABLE"}


def test_a_thousand_bad_rows_are_counted_and_twenty_are_shown():
    decision = rx_tools.decide(RULE, [{**ROWS[0], "seed": 9}] * 1000)
    assert len(decision.issues) == 21
    assert decision.issues[-1] == "1000 in all; the first 20 are listed."


def test_a_decision_can_be_copied_pickled_and_written_as_json():
    decision = rx_tools.decide(RULE, [*ROWS, ROWS[0]])
    for copied in (copy.deepcopy(decision), pickle.loads(pickle.dumps(decision))):
        assert copied == decision
        assert copied.issues[0].code == "RX420"
    assert "repeats accuracy" in json.dumps(dataclasses.asdict(decision))
    assert json.loads(json.dumps(dataclasses.asdict(rx_tools.decide(RULE, ROWS))))["criteria"]


def test_the_first_row_of_the_table_decides():
    circumstances = {
        "arms": ["a", "b"],
        "completed_arms": ["a"],
        "gates": {"correctness": "failed"},
    }
    decision = rx_tools.decide({**RULE, "alpha": 2}, ROWS, circumstances=circumstances)
    assert outcome(decision) == INCOMPLETE
    assert [issue.name for issue in decision.issues] == [
        "ARMS_NOT_COMPLETED",
        "RULE_ALPHA",
        "GATE_NOT_PASSED",
    ]


@pytest.mark.parametrize("status", ["failed", "invalid", "unverified", "unknown", "", None])
def test_a_gate_that_is_not_passed_settles_nothing(status):
    decision = rx_tools.decide(RULE, ROWS, circumstances={"gates": {"restoration": status}})
    assert outcome(decision) == INSUFFICIENT


def test_an_accepted_unverified_gate_caps_the_verdict():
    given = {"gates": {"restoration": "unverified"}, "accepted_unverified": ["restoration"]}
    decision = rx_tools.decide(RULE, ROWS, circumstances=given)
    assert outcome(decision) == INSUFFICIENT
    assert names(decision) == {"GATE_ACCEPTED_UNVERIFIED"}


def test_a_changed_endpoint_keeps_the_verdict_for_what_was_tested():
    given = {"deviations": [{"field": "endpoint", "original": "a", "effective": "b"}]}
    decision = rx_tools.decide(RULE, ROWS, circumstances=given)
    assert outcome(decision) == INSUFFICIENT
    assert decision.tested.verdict == "supported"


@pytest.mark.parametrize(
    ("selected", "name"),
    [(1e-4, None), (5e-5, "LR_AT_GRID_EDGE"), (3e-4, "LR_NOT_IN_GRID"), (None, "LR_NOT_IN_GRID")],
)
def test_the_selected_rate_lies_inside_its_grid(selected, name):
    given = {"grids": {"baseline": [5e-5, 1e-4, 2e-4]}, "selected": {"baseline": selected}}
    decision = rx_tools.decide(RULE, ROWS, circumstances=given)
    assert names(decision) == ({name} if name else set())


def test_a_grid_of_two_has_only_edges():
    for rate in (1e-4, 2e-4):
        given = {"grids": {"baseline": [1e-4, 2e-4]}, "selected": {"baseline": rate}}
        assert names(rx_tools.decide(RULE, ROWS, circumstances=given)) == {"LR_AT_GRID_EDGE"}


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["baseline", "treatment", "accuracy", "margin", "0", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*RULE, *ROWS[0], "frozen_before_confirmation", "accuracy", "0", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from(sorted(RULE)), anything, anything, anything)
def test_nothing_raises(member, value, rows, given_items):
    rx_tools.decide(value, rows, items=given_items)
    rx_tools.decide({**RULE, member: value}, rows, items=given_items, reading=value)
    rx_tools.decide(RULE, rows, items=given_items)
    rx_tools.decide(RULE, seed_means={"accuracy": rows}, reading=given_items)


@given(
    st.sampled_from(
        [
            "arms",
            "completed_arms",
            "deviations",
            "selection",
            "search_item_ids",
            "kind",
            "grids",
            "selected",
            "gates",
            "accepted_unverified",
            "adaptive_selection",
        ]
    ),
    anything,
)
def test_no_circumstance_raises(member, value):
    given_ones = {"adaptive_selection": True, member: value}
    decision = rx_tools.decide(RULE, ROWS, circumstances=given_ones)
    assert decision.verdict in ("supported", "inconclusive")

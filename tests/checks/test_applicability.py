"""Which gates apply: the table of the contract, three-valued."""

import json
from pathlib import Path

import pytest

import rx_tools
from rx_tools.checks.applicability import COVERAGE, check_applicability
from rx_tools.errors import UsageError

FIXTURES = Path(__file__).parents[1] / "fixtures"
REAL = json.loads((FIXTURES / "exp_9574bbb76e.spec.json").read_text())
ANSWER = json.loads((FIXTURES / "exp_9574bbb76e.validation.json").read_text())
FEATURES = {name for coverage in COVERAGE.values() for name in coverage.features}
ALL_FALSE = dict.fromkeys(FEATURES, False)


def status(spec, check):
    return check_applicability(spec, check)["status"]


def test_the_real_answers_come_out_equal():
    assert (
        check_applicability(REAL, "decision_rule")
        == (ANSWER["decision_validation"]["applicability"])
    )
    assert (
        check_applicability(REAL, "generation_audit")
        == (ANSWER["generation_audit_validation"]["applicability"])
    )


def test_it_is_public():
    assert rx_tools.check_applicability(REAL, "activation_gate")["status"] == "required"


@pytest.mark.parametrize(
    ("feature", "check"),
    [(name, gate.value) for gate, coverage in COVERAGE.items() for name in coverage.features],
)
def test_a_true_feature_demands_its_gate_whatever_the_contract_says(feature, check):
    section, flag = COVERAGE[check].section, COVERAGE[check].flag
    spec = {"experiment_features": {**ALL_FALSE, feature: True}, section: {flag: False}}
    answer = check_applicability(spec, check)
    assert (answer["status"], answer["enforce"]) == ("required", True)
    assert answer["reasons"] == [f"experiment_features: {feature} is true"]


@pytest.mark.parametrize("check", ["correctness_preflight", "restoration_preflight"])
@pytest.mark.parametrize("value", [None, "UNRESOLVED: ask", "true", 1, 1.0, [], {}])
def test_an_unresolved_feature_skips_nothing(check, value):
    section, flag = COVERAGE[check].section, COVERAGE[check].flag
    features = {**ALL_FALSE, COVERAGE[check].features[0]: value}
    spec = {"experiment_features": features, section: {flag: False}}
    answer = check_applicability(spec, check)
    assert (answer["status"], answer["enforce"]) == ("unknown", True)


@pytest.mark.parametrize(
    ("section", "check", "expected"),
    [
        ({"correctness_preflight": {"required": True}}, "correctness_preflight", "required"),
        ({"correctness_preflight": {"required": "yes"}}, "correctness_preflight", "unknown"),
        ({"correctness_preflight": True}, "correctness_preflight", "required"),
        ({"correctness_preflight": False}, "correctness_preflight", "not_applicable"),
        ({"restoration_preflight": "UNRESOLVED: ask"}, "restoration_preflight", "unknown"),
        ({"generation_audit": []}, "generation_audit", "unknown"),
        ({}, "correctness_preflight", "not_applicable"),
        ({"activation_gate": {"applicable": False}}, "activation_gate", "not_applicable"),
        ({"activation_gate": {"checks": []}}, "activation_gate", "unknown"),
        ({}, "activation_gate", "not_applicable"),
        ({"decision_rule": {}}, "decision_rule", "required"),
        ({"decision_rule": None}, "decision_rule", "not_applicable"),
        ({"feasibility_required": True}, "feasibility", "required"),
        ({"feasibility_required": "soon"}, "feasibility", "unknown"),
        ({}, "feasibility", "not_applicable"),
        ({"eval": {"aggregation": "example_mean"}}, "loss_eval", "required"),
        ({"eval": {"metric": "held-out NLL"}}, "loss_eval", "required"),
        ({"eval": {"metric": "accuracy"}}, "loss_eval", "not_applicable"),
    ],
)
def test_the_contract_of_the_spec_decides_when_every_feature_is_false(section, check, expected):
    assert status({"experiment_features": ALL_FALSE, **section}, check) == expected


@pytest.mark.parametrize("spec", [None, [], "spec", 3, {"experiment_features": "none"}, {}])
def test_a_spec_that_declares_nothing_leaves_gates_with_features_unknown(spec):
    assert status(spec, "restoration_preflight") == "unknown"


def test_an_unknown_gate_is_refused_by_name():
    with pytest.raises(UsageError, match="no gate with conditions is named 'evaluatr'"):
        check_applicability(REAL, "evaluatr")

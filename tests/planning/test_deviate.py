"""A declared change derives a spec, and what it does to the hypothesis is computed."""

import json
from pathlib import Path

import pytest

from rx_tools.errors import UsageError
from rx_tools.planning.deviate import deviated_spec, parse_changes, still_tested

FIXTURES = Path(__file__).parents[1] / "fixtures"
SPEC = json.loads((FIXTURES / "exp_9574bbb76e.spec.json").read_text())


def deviate(*texts):
    return deviated_spec(SPEC, "d" * 64, parse_changes(texts))


def test_a_substituted_model():
    derived, declared = deviate("model=Qwen/Qwen3.5-4B")
    assert derived["base_model"] == "Qwen/Qwen3.5-4B"
    assert "Qwen/Qwen3.5-2B" not in derived["command"]
    assert declared[0]["field"] == "model"
    assert declared[0]["original"] == "Qwen/Qwen3.5-2B"
    assert not still_tested(SPEC, declared)


def test_fewer_steps_change_arms_checks_and_command():
    derived, declared = deviate("steps=40")
    assert derived["steps"] == 40
    checks = {check["metric"]: check for check in derived["activation_gate"]["checks"]}
    assert (checks["executed_steps"]["min"], checks["executed_steps"]["max"]) == (40, 40)
    assert "max_steps=40" in derived["command"]
    assert not still_tested(SPEC, declared)


def test_a_hypothesis_that_does_not_name_the_model_survives():
    spec = SPEC | {
        "hypothesis": "A rate of 3e-4 beats 1e-4.",
        "primary_endpoint": "held-out NLL",
        "decision_rule": SPEC["decision_rule"] | {"estimand": "reduction of held-out NLL"},
    }
    declared = deviated_spec(spec, "d" * 64, parse_changes(["model=other/model"]))[1]
    assert still_tested(spec, declared)


def test_a_dropped_secondary_evaluation_leaves_the_hypothesis_alone():
    spec = json.loads((FIXTURES / "exp_71911f0fb9.spec.json").read_text())
    derived, declared = deviated_spec(spec, "d" * 64, parse_changes(["secondary=none"]))
    assert "n_ifeval_secondary" not in derived["feasibility"]["effective_config"]
    assert declared == [
        {
            "field": "evaluator",
            "original": "ifeval (541 items)",
            "effective": "none",
            "reason": "asked for before the run",
        }
    ]
    assert still_tested(spec, declared)
    assert not still_tested(spec | {"hypothesis": "dimuon-lite follows IFEval better"}, declared)


def test_a_secondary_evaluation_that_is_not_planned_cannot_be_dropped():
    with pytest.raises(UsageError, match="plans no secondary"):
        deviate("secondary=none")


def test_nothing_is_changed_twice():
    with pytest.raises(UsageError, match="steps is changed twice"):
        parse_changes(["steps=40", "model=a/b", "steps=30"])


@pytest.mark.parametrize(
    "text", ["secondary=ifeval", "objective=ppo", "model=", "steps=none", "steps=-1", "model"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(UsageError):
        parse_changes([text])

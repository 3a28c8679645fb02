"""The golden answer: what the server said to the finished run, and what it did not say."""

import json
from pathlib import Path

import pytest

import rx_tools
from rx_tools.checks.validation import ANSWERS, judge_all
from rx_tools.model.names import Gate
from rx_tools.model.result import Status

FIXTURES = Path(__file__).parents[1] / "fixtures"


def load(name):
    return json.loads((FIXTURES / name).read_text())


SPEC, RECORD = load("exp_9574bbb76e.spec.json"), load("exp_9574bbb76e.run.json")
GOLDEN = load("exp_9574bbb76e.validation.json")
ANSWER = rx_tools.validate(SPEC, RECORD)


def canonical(value):
    """Text in which 0 and 0.0, null and absence differ."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_the_servers_answer_comes_out_equal(name):
    assert canonical(ANSWER[name]) == canonical(GOLDEN[name])


def test_every_gate_is_answered_in_report_order():
    assert list(judge_all(SPEC, RECORD)) == list(Gate)
    assert set(ANSWERS.values()) == set(Gate)
    assert list(ANSWER) == list(ANSWERS)


def test_what_the_server_did_not_say():
    results = judge_all(SPEC, RECORD)
    assert results[Gate.ACTIVATION].status is Status.UNVERIFIED
    assert results[Gate.LOSS_EVAL].status is Status.UNVERIFIED
    assert results[Gate.EVIDENCE].status is Status.UNVERIFIED
    assert ANSWER["evidence_validation"]["missing_kinds"] == [
        "script",
        "effective_config",
        "predictions",
        "per_arm_metrics",
    ]


def test_a_plan_that_was_never_timed_gets_the_answer_saved_in_its_spec():
    spec = load("exp_71911f0fb9.spec.json")
    saved = load("exp_71911f0fb9.spec.json")["feasibility_check"]
    answer = rx_tools.validate(spec, {"feasibility": spec["feasibility"]})
    assert canonical(answer["feasibility"]) == canonical(saved)


def test_nothing_recorded_gets_the_answer_saved_in_the_other_spec():
    answer = rx_tools.validate(SPEC, {})["feasibility"]
    saved = SPEC["feasibility_check"]
    assert {key: answer[key] for key in saved} == saved


@pytest.mark.parametrize("document", [None, [], "x", 3, {}, {"arms": 3}])
def test_no_document_at_all_passes_nothing(document):
    results = judge_all(document, document)
    opened = {gate for gate, result in results.items() if result.status is Status.PASSED}
    assert opened == set()

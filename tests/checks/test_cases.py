"""Every case file comes out as it says, and every judge has a case of each kind."""

import pytest
from judge_cases import GATES, PATHS, codes, judge, load

from rx_tools.checks import (
    activation,
    correctness,
    evaluator,
    evidence,
    feasibility,
    generation_audit,
    record,
    restoration,
)
from rx_tools.checks.hints import HINTS
from rx_tools.checks.validation import JUDGES
from rx_tools.model.result import Level

MODULES = [
    activation,
    correctness,
    evaluator,
    evidence,
    feasibility,
    generation_audit,
    record,
    restoration,
]
WITHOUT_A_CASE = {"RX318", "RX356", "RX357", "RX358", "RX379", "RX383"}
"""Four warnings, and a file too large to lie here; all have a test below."""

IDS = [f"{path.parent.name}/{path.stem}" for path in PATHS]


@pytest.mark.parametrize("path", PATHS, ids=IDS)
def test_the_case_comes_out_as_it_says(path):
    case = load(path)
    result = judge(path.parent.name, case)
    messages = [finding.message for finding in result.reasons]
    assert result.status.value == case["expect"]["status"], messages
    assert codes(result) == case["expect"]["codes"], messages
    assert result.details["status"] == result.status.value
    assert path.stem.startswith(f"{result.status.value}-")
    if "reason" in case["expect"]:
        assert case["expect"]["reason"] in messages


@pytest.mark.parametrize("check", sorted({path.parent.name for path in PATHS}))
def test_every_judge_has_a_case_that_passes_one_that_fails_and_one_that_lacks_evidence(check):
    kinds = {path.stem.partition("-")[0] for path in PATHS if path.parent.name == check}
    assert "passed" in kinds
    assert kinds & {"failed", "invalid"}
    assert kinds & {"unverified", "unknown"}


def test_every_judge_of_this_room_has_cases():
    named = {GATES[path.parent.name] for path in PATHS}
    assert named == set(JUDGES)


def test_every_code_of_a_judge_has_a_hint_and_a_case():
    stated = {code for module in MODULES for code in module.CODES}
    seen = {code for path in PATHS for code in load(path)["expect"]["codes"]}
    assert stated == set(HINTS)
    assert stated - seen <= WITHOUT_A_CASE


def passed(check):
    return load(next(path for path in PATHS if path.match(f"{check}/passed-*.json")))


def test_a_file_above_ten_mebibytes_is_refused():
    case = passed("evidence")
    name = next(iter(case["evidence"]))
    rows = case["evidence"][name]
    case["evidence"][name] = rows + rows.splitlines()[0] + " " * (10 * 2**20) + "\n"
    case["record"]["evidence"]["files"][3].pop("sha256", None)
    assert "RX383" in codes(judge("evidence", case))


def test_what_a_tolerance_cannot_see_is_said_and_warned_of_above_five_percent():
    case = load(next(p for p in PATHS if p.match("correctness/passed-within*.json")))
    case["spec"]["correctness_preflight"]["paths"][0]["tolerances"] = {
        "baseline_update": {"atol": 1e-6, "rtol": 1e-3},
        "reference_update": {"atol": 1e-5, "rtol": 1e-2},
    }
    errors = case["record"]["correctness_preflight"]["paths"][0]["errors"]
    errors["reference_update"] |= {"reference_max_abs": 9.6e-6, "max_abs_error": 4.8e-6}
    result = judge("correctness", case)
    said = {f.message.split()[0]: f for f in result.reasons if f.code == "RX318"}
    assert said["baseline_update"].level is Level.NOTE
    assert said["reference_update"].level is Level.WARNING
    assert "a pure scale error of 105 %" in said["reference_update"].message
    assert codes(result) == []


def test_a_projection_for_fewer_samples_than_planned_is_a_warning():
    case = passed("feasibility")
    case["record"]["feasibility"]["measurements"]["training"]["planned_units"] = 1
    result = judge("feasibility", case)
    assert (result.status.value, codes(result)) == ("passed", [])
    assert [finding.code for finding in result.reasons] == ["RX356"]


def test_a_projection_for_another_endpoint_is_a_warning():
    case = passed("feasibility")
    case["spec"]["primary_endpoint"] = "nll at step 60"
    result = judge("feasibility", case)
    assert (result.status.value, codes(result)) == ("passed", [])
    assert [finding.code for finding in result.reasons] == ["RX357"]


def test_a_repeated_prompt_is_a_warning():
    case = load(next(p for p in PATHS if p.match("generation_audit/passed-every*.json")))
    rows = case["evidence"]["tasks-1.jsonl"].replace("What is 1 + 1?", "what is  0 + 0?")
    case["evidence"]["tasks-1.jsonl"] = rows
    result = judge("generation_audit", case)
    assert (result.status.value, codes(result)) == ("passed", [])
    assert [finding.code for finding in result.reasons] == ["RX379"]
    assert result.details["reasons"] == []

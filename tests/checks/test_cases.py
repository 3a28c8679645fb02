"""Every case file comes out as it says, and every judge has a case of each kind."""

import pytest
from judge_cases import GATES, PATHS, codes, judge, load

from rx_tools.checks.validation import JUDGES

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

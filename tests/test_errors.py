"""The exit codes are a promise: this table is the one in the README."""

import pytest

from rx_tools.errors import ExitCode, RxError, worst
from rx_tools.model.result import Result, Status

TABLE = {
    "OK": 0,
    "FINDINGS": 1,
    "USAGE": 2,
    "UNVERIFIED": 3,
    "INTEGRITY": 4,
    "SERVICE": 5,
    "REFUTED": 10,
    "INCONCLUSIVE": 11,
    "INADMISSIBLE": 12,
    "INTERNAL": 70,
    "DISK": 74,
    "INTERRUPTED": 130,
}


def test_exit_codes_are_the_published_ones():
    assert {code.name: code.value for code in ExitCode} == TABLE


@pytest.mark.parametrize(
    ("codes", "decides"),
    [
        ((0, 3), 3),
        ((3, 5), 5),
        ((5, 1), 1),
        ((1, 4), 4),
        ((4, 2), 2),
        ((2, 74), 74),
        ((74, 70), 70),
    ],
)
def test_the_worst_code_decides(codes, decides):
    assert worst(ExitCode(code) for code in codes) == decides


def test_nothing_judged_is_unverified():
    assert worst([]) is ExitCode.UNVERIFIED


@pytest.mark.parametrize("judged", [Status.PASSED, Result(Status.PASSED)])
def test_an_answer_has_no_truth_value(judged):
    with pytest.raises(TypeError):
        bool(judged)


def test_an_error_is_one_line():
    error = RxError("broken\nthing", where="a.json:3", hint="mend it")
    assert str(error) == "a.json:3: broken thing (mend it)"

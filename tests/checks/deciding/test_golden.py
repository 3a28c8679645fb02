"""The golden cases: intervals computed with 60 digits, by scipy and by R; verdicts by the table."""

import json
from pathlib import Path

import pytest

import rx_tools
from rx_tools.checks.deciding.observation_rows import ObservationRows

GOLDEN = json.loads(Path("tests/fixtures/decision_cases.json").read_text())
CASES = GOLDEN["cases"]


def decided(case, **more):
    return rx_tools.decide(
        case["rule"],
        case.get("observations"),
        seed_means=case.get("seed_means"),
        items=case.get("items"),
        **more,
    )


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_verdict_readings_and_issues(case):
    expect, decision = case["expect"], decided(case)
    accepted = [expect["recommended"], expect.get("recommended_with_guard", expect["recommended"])]
    assert [decision.verdict, decision.outcome_reason] in accepted
    margin, band = decision.margin_reading, decision.band_reading
    assert [margin.verdict, margin.reason] == expect["margin_reading"]
    assert [band.verdict, band.reason] == expect["band_reading"]
    assert sorted({issue.name for issue in decision.issues}) == sorted(expect["issues"])


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_intervals(case):
    expected, found = case["expect"]["criteria"], decided(case).criteria
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        assert (got.id, got.n, got.df, got.k) == (want["id"], want["n"], want["df"], want["k"])
        assert got.tcrit == pytest.approx(want["tcrit"], rel=1e-12)
        for value, exact in [(got.low, want["ci"][0]), (got.high, want["ci"][1])]:
            assert abs(value - exact) <= want["tol_exact"]
        assert abs(got.mean - want["mean"]) <= want["tol_exact"]
        assert got.sd == pytest.approx(want["sd"], rel=1e-14, abs=0)
        assert list(got.contrasts.values()) == want["contrasts"]
        assert got.zero_variance == want["zero_variance"]
        assert got.numerically_constant == want["numerically_constant"]
        readings = {"margin": got.reading_margin, "band": got.reading_band}
        assert readings == want["per_criterion"]


CIRCUMSTANCES = [case for case in GOLDEN["gate_cases"] if "decision" not in case["gate_input"]]


@pytest.mark.parametrize("case", CIRCUMSTANCES, ids=lambda case: case["id"])
def test_circumstances(case):
    supported = next(case for case in CASES if case["id"] == "clear_support")
    decision = decided(supported, circumstances=case["gate_input"])
    if case["expect"] is None:
        assert (decision.verdict, decision.issues) == ("supported", ())
        return
    name, verdict, reason = case["expect"]
    assert (decision.verdict, decision.outcome_reason) == (verdict, reason)
    assert [issue.name for issue in decision.issues] == [name]


IN_ROWS = [case for case in CASES if "observations" in case]


@pytest.mark.parametrize("case", IN_ROWS, ids=[case["id"] for case in IN_ROWS])
def test_rows_read_from_bytes_decide_the_same(case):
    lines = "".join(json.dumps(row) + "\n" for row in case["observations"]).encode()
    rows = ObservationRows(lines)
    decision = rx_tools.decide(case["rule"], rows, items=case.get("items"))
    assert decision.criteria == decided(case).criteria
    assert [decision.verdict, decision.outcome_reason] == case["expect"]["recommended"]
    assert {issue.name for issue in decision.issues} == set(case["expect"]["issues"])

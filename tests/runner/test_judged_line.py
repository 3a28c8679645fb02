"""What the ledger keeps of a gate's answer."""

from rx_tools.model.names import Gate
from rx_tools.model.result import Finding, Level, Result, Status
from rx_tools.runner.whole.gates import judged_line


def answer(count):
    reasons = tuple(Finding("RX310", Level.ERROR, f"reason {n}", "$") for n in range(count))
    return Result(Status.FAILED, reasons, {})


def test_reasons_beyond_the_fifth_are_counted():
    line = judged_line(Gate.CORRECTNESS, answer(7))
    assert line["gate"] == "correctness_preflight" and line["status"] == "failed"
    assert line["reasons"] == [*(f"reason {n}" for n in range(5)), "and 2 more"]


def test_five_reasons_are_all_there_is():
    assert judged_line(Gate.CORRECTNESS, answer(5))["reasons"][-1] == "reason 4"
